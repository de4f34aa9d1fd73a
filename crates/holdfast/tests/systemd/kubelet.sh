#!/bin/bash
# Stands in for the kubelet: keeps one connection to the address in /shared/NAME.target, says in /shared/NAME.log
# when it has one and when it lost it, and tells systemd when it has had the first one.
name=$1 ready=
while :; do
  read -r address port < "/shared/$name.target" || { sleep 0.1; continue; }
  if { exec 3<>"/dev/tcp/$address/$port"; } 2> /dev/null; then
    echo "$$ connected $address" >> "/shared/$name.log"
    [ -n "$ready" ] || systemd-notify --ready
    ready=yes
    read -r -u 3 _
    exec 3>&-
    echo "$$ lost $address" >> "/shared/$name.log"
  else
    sleep 0.1
  fi
done 2> /dev/null
