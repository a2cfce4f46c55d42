# The server's return after a crash.
package Recovery;
use strict;
use warnings;

# A psql that the server refuses may end before it has read its query: IPC::Run dies of that, which is no answer yet.
sub await_server
{
	my ($node) = @_;
	my $is_back;
	$is_back = eval { $node->poll_query_until('postgres', 'SELECT 1', '1') } until defined $is_back;
	$is_back or die 'the server did not come back';
	return;
}

1;
