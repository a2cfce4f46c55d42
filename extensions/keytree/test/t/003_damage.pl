# Pages damaged on disk: an error that names the invariant, or an answer; never a crash, never an endless loop.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use constant { PAGE_BYTES => 8192, KEYS => 128 };

srand($ENV{DAMAGE_SEED} // 1);

my $node = PostgreSQL::Test::Cluster->new('primary');
$node->init;
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'penumbra_keytree'
ignore_checksum_failure = on
restart_after_crash = off
autovacuum = off
fsync = off
});
$node->start;

# Changes one page of a file.
sub change_page
{
	my ($file, $block, $change) = @_;
	open(my $handle, '+<:raw', $file) or die "$file: $!";
	seek($handle, $block * PAGE_BYTES, 0);
	read($handle, my $page, PAGE_BYTES) == PAGE_BYTES or die "$file is short";
	$change->(\$page);
	seek($handle, $block * PAGE_BYTES, 0);
	print $handle $page;
	close($handle);
}

# The first page of a file with a flag.
sub find_page
{
	my ($file, $flag) = @_;
	for my $block (1 .. (-s $file) / PAGE_BYTES - 1)
	{
		my $flags;
		change_page($file, $block, sub { $flags = get($_[0], 28, 'v'); });
		return $block if $flags & $flag;
	}
	die "no page of $file has flag $flag";
}

sub put
{
	my ($page, $offset, $template, $value) = @_;
	my $bytes = pack($template, $value);
	substr($$page, $offset, length($bytes)) = $bytes;
}

sub get
{
	my ($page, $offset, $template) = @_;
	return unpack($template, substr($$page, $offset, 8));
}

# Offsets are those of the byte table in page.h.
sub key_width { return get($_[0], 32, 'C'); }
sub tail_width { my ($page) = @_; return get($page, 33, 'C') + get($page, 34, 'C') + get($page, 35, 'C'); }

my ($root, $nulls, $leaf) = (1, 2, 3);    # the first split of a root gives its lower half to block 3

# name, block (-1: a deleted one), damage, the invariant that it violates; T3 cannot be, for nothing is stored that could
my @cases = (
	[ magic => $leaf, sub { put($_[0], 24, 'v', 0x1234) }, 'P1' ],
	[ zeroed => $leaf, sub { ${ $_[0] } = "\0" x PAGE_BYTES }, 'P1' ],
	[ version => $leaf, sub { put($_[0], 26, 'C', 99) }, 'P2' ],
	[ meta => $leaf, sub { put($_[0], 28, 'v', 1) }, 'P3' ],
	[ width => $leaf, sub { put($_[0], 32, 'C', 9) }, 'P4' ],
	[ count => $leaf, sub { put($_[0], 30, 'v', get($_[0], 30, 'v') + 1) }, 'P5' ],
	[ right => $leaf, sub { put($_[0], 44, 'V', 1) }, 'T1|T2' ],
	[ lost => $leaf, sub { put($_[0], 44, 'V', 1_000_000) }, 'T1' ],
	[ fence => $leaf, sub { put($_[0], 64, 'Q<', 1) }, 'T1' ],
	[ high => $leaf, sub { put($_[0], 88, 'Q<', 0) }, 'T1' ],
	[ deleted => $leaf, sub { put($_[0], 28, 'v', 8) }, 'T2' ],
	[ order => $leaf, sub {
		my ($page) = @_;
		my $width = key_width($page);
		my $key = substr($$page, KEYS + 10 * $width, $width);
		substr($$page, KEYS + 10 * $width, $width) = substr($$page, KEYS + 20 * $width, $width);
		substr($$page, KEYS + 20 * $width, $width) = $key; }, 'T4' ],
	[ root => $root, sub { put($_[0], 28, 'v', 0) }, 'T5' ],
	[ downlink => $root, sub {
		my ($page) = @_;
		put($page, PAGE_BYTES - 4, 'V', get($page, PAGE_BYTES - 4 - tail_width($page), 'V')); }, 'T1|T2' ],
	[ astray => $root, sub { put($_[0], PAGE_BYTES - 4, 'V', 1_000_000) }, 'T1' ],
	[ undeleted => -1, sub { put($_[0], 28, 'v', get($_[0], 28, 'v') & ~8) }, 'T6' ],
	[ childless => $root, sub {
		my ($page) = @_;
		put($page, 30, 'v', 0);
		put($page, 12, 'v', KEYS);
		put($page, 14, 'v', PAGE_BYTES); }, 'T8' ],
	[ nonnull => $nulls, sub { put($_[0], 56, 'Q<', 5) }, 'T9' ],
	[ odd => $leaf, sub { put($_[0], 36, 'V', get($_[0], 36, 'V') | 1) }, 'T7' ],
	# values are 256 apart, so another lowest byte leaves the order
	[ key => $leaf, sub {
		my ($page) = @_;
		my $at = KEYS + 7 * key_width($page);
		put($page, $at, 'C', (get($page, $at, 'C') + 1) % 256); }, 'H3' ],
	[ tid => $leaf, sub { put($_[0], PAGE_BYTES - 8 * tail_width($_[0]), 'v', 400 << 1) }, 'H2' ],
	[ entry => $leaf, sub {
		my ($page) = @_;
		my $count = get($page, 30, 'v') - 1;
		put($page, 30, 'v', $count);
		put($page, 12, 'v', KEYS + $count * key_width($page));
		put($page, 14, 'v', PAGE_BYTES - $count * tail_width($page)); }, 'H1' ],
);
my @random = map { "random_$_" } (1 .. 40);
my @names = ((map { $_->[0] } @cases), @random);

$node->safe_psql('postgres', q{
	CREATE EXTENSION penumbra_keytree;
	CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE detail text;
	BEGIN
		EXECUTE statement;
		RETURN 'fine';
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
		RETURN SQLSTATE || ' ' || detail;
	END $$;});
my %file;
for my $name (@names)
{
	$file{$name} = $node->data_dir . '/' . $node->safe_psql('postgres', qq{
		CREATE TABLE t_$name (a int8);
		CREATE INDEX t_${name}_a ON t_$name USING keytree (a);
		INSERT INTO t_$name SELECT i * 256 FROM generate_series(1, 5000) i;
		INSERT INTO t_$name SELECT NULL FROM generate_series(1, 10) i;
		DELETE FROM t_$name WHERE a > 500 * 256 AND a < 4500 * 256;
		VACUUM ANALYZE t_$name;
		SELECT pg_relation_filepath('t_${name}_a')});
}
my $check = q{SELECT try($$SELECT penumbra_keytree.keytree_check('t_NAME_a')$$)};
is($node->safe_psql('postgres', $check =~ s/NAME/magic/r), 'fine', 'undamaged');
$node->stop;

for my $case (@cases)
{
	my ($name, $block, $change) = @$case;
	change_page($file{$name}, $block == -1 ? find_page($file{$name}, 8) : $block, $change);
}
for my $name (@random)
{
	my $blocks = (-s $file{$name}) / PAGE_BYTES;
	for (1 .. 1 + int(rand(8)))
	{
		change_page($file{$name}, 1 + int(rand($blocks - 1)), sub {
			# half of them in the header, where they do most
			put($_[0], rand() < 0.5 ? int(rand(KEYS)) : int(rand(PAGE_BYTES)), 'C', int(rand(256))); });
	}
}
$node->start;

for my $case (@cases)
{
	my ($name, undef, undef, $invariant) = @$case;
	like($node->safe_psql('postgres', $check =~ s/NAME/$name/r), qr/^XX002 Invariant ($invariant):/,
		"damage '$name' violates $invariant");
}

my $use = $check . q{;
	SET enable_seqscan = off; SET enable_sort = off; SET statement_timeout = '20s';
	SELECT try($$SELECT * FROM t_NAME ORDER BY a$$);
	SELECT try($$SELECT * FROM t_NAME ORDER BY a DESC$$);
	SELECT try($$SELECT * FROM t_NAME WHERE a = ANY (ARRAY(SELECT i * 256 FROM generate_series(1, 5000, 50) i))$$);
	SELECT try($$SELECT penumbra_keytree.keytree_stats('t_NAME_a')$$);
	SELECT try($$SELECT penumbra_keytree.keytree_page('t_NAME_a', b) FROM generate_series(1, 8) b$$);
	SELECT try($$INSERT INTO t_NAME SELECT i * 250 FROM generate_series(1, 5000, 5) i$$);
	SELECT try($$DELETE FROM t_NAME WHERE a % 3 = 0$$);
	VACUUM t_NAME;
	SELECT try($$SELECT count(*) FROM t_NAME WHERE a > 0$$)};
for my $name (@names)
{
	my ($stdout, $stderr) = ('', '');
	$node->psql('postgres', $use =~ s/NAME/$name/gr, stdout => \$stdout, stderr => \$stderr, on_error_stop => 0);
	unlike($stdout . $stderr, qr/57014|timeout|server closed|terminat/, "every use of '$name' ends");
}
is($node->safe_psql('postgres', 'SELECT 1'), '1', 'the server is up');
$node->stop;
done_testing();
