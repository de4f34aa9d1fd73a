#!/bin/bash
# Boots a systemd of its own for a test: first process of private pid, mount, cgroup, uts, ipc and network
# namespaces, on a throw-away copy-on-write view of this machine's root. Nothing that runs inside can write
# to the machine's root, /tmp, /run or /dev; of the machine it sees files, read only in effect, and the one
# shared folder.
#
#   boot.sh CGROUP FOLDER PROGRAM [COMPONENTS]
#
# CGROUP   an empty cgroup v2 directory; inside it is the root of the tree
# FOLDER   holds root/ (the mount point of the view), units/ (become the guest's units) and shared/ (which
#          is /shared inside, and where the number of the first process is written to shared/pid)
# PROGRAM  becomes /usr/local/bin/holdfast inside
# COMPONENTS, a folder, becomes /opt/kubernetes inside
set -euo pipefail

if [ "$1" != inside ]; then
  echo $$ > "$1/cgroup.procs"
  exec unshare --pid --fork --kill-child=KILL --mount --cgroup --uts --ipc --net --propagation private \
    bash "$0" inside "$2" "$3" "${4:-}"
fi

folder=$2 program=$3 components=$4
# /proc is still the machine's: the number is the one that the machine knows this process by.
read -r outer _ < /proc/self/stat
hostname guest
ip link set lo up

# The layer that takes all writes is memory, gone with the namespace.
mount -t tmpfs -o mode=755,size=1g layer "$folder/root"
mkdir "$folder"/root/{new,work,view}
mount -t overlay -o "lowerdir=/,upperdir=$folder/root/new,workdir=$folder/root/work" view "$folder/root/view"
cd "$folder/root/view"
[ "$(stat -f -c %T .)" = overlayfs ]

mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 dev dev
for node in null zero full random urandom tty; do
  : > "dev/$node"
  mount --bind "/dev/$node" "dev/$node"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for empty in run tmp var/tmp var/log etc/systemd/system; do
  mount -t tmpfs -o mode=755 empty "$empty"
done
chmod 1777 tmp var/tmp

# Only what a test names is started: nothing that would set the machine's clock, modules or sysctls.
rm -rf usr/lib/systemd/system/{sysinit,basic,sockets,timers,multi-user,graphical,local-fs}.target.wants
for unit in modprobe@ systemd-udevd systemd-sysctl systemd-binfmt systemd-modules-load systemd-timesyncd \
  systemd-networkd systemd-random-seed systemd-remount-fs systemd-hwdb-update systemd-pstore; do
  ln -s /dev/null "etc/systemd/system/$unit.service"
done
mkdir -p run/systemd/system run/lock shared
cp -r "$folder/units/." run/systemd/system/
mount --bind "$folder/shared" shared
: > usr/local/bin/holdfast
mount --bind "$program" usr/local/bin/holdfast
if [ -n "$components" ]; then
  mkdir -p opt/kubernetes
  mount --bind "$components" opt/kubernetes
fi
rm -f etc/machine-id
echo 686f6c64666173742074657374207331 > etc/machine-id

mkdir -p machine
pivot_root . machine
cd /
umount -l /machine
echo "$outer" > /shared/pid
exec env -i container=holdfast-test PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C \
  /lib/systemd/systemd --system --unit=guest.target --show-status=0 --log-target=journal
