# What scripts with chroots share; sourced. Needs root (or sudo) and section check-all of packages.txt.
#
#   PENUMBRA_CHROOTS   where the chroots are kept (default /var/tmp/penumbra-chroots)
#   PENUMBRA_MIRROR    Debian mirror (default http://deb.debian.org/debian)

tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
chroots=${PENUMBRA_CHROOTS:-/var/tmp/penumbra-chroots}
mirror=${PENUMBRA_MIRROR:-http://deb.debian.org/debian}
sudo=()
[ "$(id -u)" = 0 ] || sudo=(sudo)
mounted=()

leave() {
	for point in "${mounted[@]}"; do
		"${sudo[@]}" umount -l "$point" 2>/dev/null || true
	done
}
trap leave EXIT
trap 'exit 130' INT TERM

# PostgreSQL 19 is in experimental, from where apt takes what it is told to only.
add_experimental() {
	echo "deb $mirror experimental main" | "${sudo[@]}" tee "$1/etc/apt/sources.list.d/experimental.list" >/dev/null
	printf '%s\n' 'Package: postgresql-*19 libpq*' 'Pin: release a=experimental' 'Pin-Priority: 990' |
		"${sudo[@]}" tee "$1/etc/apt/preferences.d/experimental" >/dev/null
}

# make_chroot NAME SUITE
make_chroot() {
	local root=$chroots/$1 suite=$2 script
	[ -e "$root/.complete" ] && return
	"${sudo[@]}" rm -rf --one-file-system "$root"
	"${sudo[@]}" mkdir -p "$chroots"
	# A debootstrap older than the suite has no script of its name; sid's fits.
	script=/usr/share/debootstrap/scripts/$suite
	[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
	"${sudo[@]}" debootstrap --variant=minbase "$suite" "$root" "$mirror" "$script"
	# A mirror that is a snapshot of a suite under development has expired, and is still the right one.
	echo 'Acquire::Check-Valid-Until "false";' | "${sudo[@]}" tee "$root/etc/apt/apt.conf.d/snapshot" >/dev/null
	[ "$suite" != sid ] || add_experimental "$root"
	"${sudo[@]}" touch "$root/.complete"
}

# in_chroot NAME COMMAND
in_chroot() {
	local root=$chroots/$1
	shift
	for kind in proc sys dev; do
		if ! mountpoint -q "$root/$kind"; then
			"${sudo[@]}" mount --rbind "/$kind" "$root/$kind"
			"${sudo[@]}" mount --make-rslave "$root/$kind"
			mounted+=("$root/$kind")
		fi
	done
	for file in /etc/resolv.conf /etc/pip.conf; do
		[ -e $file ] && "${sudo[@]}" cp -L $file "$root$file"
	done
	# Certificate authorities of this machine, for a package index behind a proxy; under a name of
	# their own, because the chroot's ca-certificates writes its own file again.
	"${sudo[@]}" mkdir -p "$root/etc/ssl"
	"${sudo[@]}" cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/host-certificates.crt"
	"${sudo[@]}" chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
		PIP_CERT=/etc/ssl/host-certificates.crt \
		DEBIAN_FRONTEND=noninteractive CHECK_OPTIONS="${CHECK_OPTIONS:-}" bash -c "$*"
}

# for_each PARTS FUNCTION: the function with each part; those that fail are named at the end
for_each() {
	local failed=() part
	for part in $1; do
		echo "=== chroot $part"
		"$2" "$part" || failed+=("$part")
	done
	if [ ${#failed[@]} -gt 0 ]; then
		echo "failed in: ${failed[*]}"
		exit 1
	fi
	echo "passed in all chroots"
}
