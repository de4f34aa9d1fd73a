# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_holdfast_global_optspecs
    string join \n h/help V/version
end

function __fish_holdfast_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_holdfast_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_holdfast_using_subcommand
    set -l cmd (__fish_holdfast_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c holdfast -n "__fish_holdfast_needs_command" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_needs_command" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "adopt" -d 'Send the clients of kubeconfigs through the agent on this node, once that is proved to work'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "agent" -d 'Run the node-local load balancer in front of the API servers'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "check" -d 'Look at this node and its cluster, and say what must be mended'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "demo" -d 'Show the outage and the cure, in a world of network namespaces'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "egress" -d 'Know, predict and audit how each node reaches the internet (Azure)'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "lab" -d 'Meet real faults in worlds of network namespaces, and measure'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "node-check" -d 'Cure this node when the API server says that it is not ready'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "plan" -d 'Decide on given facts, and touch nothing'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "release" -d 'Send the clients of adopted kubeconfigs back to where they went before'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "status" -d 'Show what the agent on this node knows, has done, and why'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "watch" -d 'Keep units off addresses that have left DNS'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand adopt" -l kubeconfig -d 'A kubeconfig whose clients shall go through the agent; may be repeated' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand adopt" -l listener -d 'The agent\'s listener [default: the first that the agent at --admin names]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand adopt" -l admin -d 'The agent\'s admin address' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand adopt" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand adopt" -l dry-run -d 'Verify, show what would be changed, and change nothing'
complete -c holdfast -n "__fish_holdfast_using_subcommand adopt" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand adopt" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l config -d 'Configuration file, one YAML document' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l endpoint -d 'The cluster\'s endpoint as nodes know it; its name is watched in DNS' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l ca -d 'PEM certificates of the cluster\'s CA' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l server-name -d 'Name that the API servers\' certificate must be for [default: the endpoint\'s host]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l node-name -d 'Name of this node; decides which upstream it prefers [default: the host\'s name]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l listen -d 'Loopback address that clients connect to; may be repeated; none for a guard alone [default: 127.0.0.1:6445 and [::1]:6445]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l admin -d 'Loopback address of /livez, /readyz, /status and /metrics [default: 127.0.0.1:6446]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l seed -d 'An API server that is always tried, whatever DNS says; may be repeated' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l kubeconfig -d 'Kubeconfig that may read the API servers\' own list of themselves' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l cache -d 'File in which the last good set of addresses is remembered' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l dns-server -d 'A resolver to ask; may be repeated [default: those of /etc/resolv.conf]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l probe-interval -d 'Time between two probes of one upstream [default: this node\'s share of budget, and 500 ms at least. While something is suspected it is 500 ms in any case]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l drain-timeout -d 'Time for which connections stay on an upstream that drains [default: 10m]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l shutdown-timeout -d 'Time that open connections get to end after SIGTERM [default: 5s]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l guard-unit -d 'A systemd unit or a cgroup path to guard; may be repeated, implies --guard [default: kubelet.service, kube-proxy.service]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l guard-user -d 'A user to guard, by number; may be repeated, implies --guard' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l guard-fallback -d 'What is done to a unit whose dead connections can\'t be aborted: none, systemctl or watchdog [default: none]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l log-format -d 'Form of a log line: text or json [default: text]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l log-level -d 'What is logged: error, warn, info or debug [default: info]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l guard -d 'Watch API connections of other programs too, and abort the dead ones'
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l guard-everyone -d 'Guard every API connection in the network namespace; implies --guard'
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l guard-dry-run -d 'Only report what the guard would abort; implies --guard'
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l config -d 'Configuration file, one YAML document' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l endpoint -d 'The cluster\'s endpoint as nodes know it; its name is watched in DNS' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l ca -d 'PEM certificates of the cluster\'s CA' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l server-name -d 'Name that the API servers\' certificate must be for [default: the endpoint\'s host]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l node-name -d 'Name of this node; decides which upstream it prefers [default: the host\'s name]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l listen -d 'Loopback address that clients connect to; may be repeated; none for a guard alone [default: 127.0.0.1:6445 and [::1]:6445]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l admin -d 'Loopback address of /livez, /readyz, /status and /metrics [default: 127.0.0.1:6446]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l seed -d 'An API server that is always tried, whatever DNS says; may be repeated' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l kubeconfig -d 'Kubeconfig that may read the API servers\' own list of themselves' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l cache -d 'File in which the last good set of addresses is remembered' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l dns-server -d 'A resolver to ask; may be repeated [default: those of /etc/resolv.conf]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l probe-interval -d 'Time between two probes of one upstream [default: this node\'s share of budget, and 500 ms at least. While something is suspected it is 500 ms in any case]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l drain-timeout -d 'Time for which connections stay on an upstream that drains [default: 10m]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l shutdown-timeout -d 'Time that open connections get to end after SIGTERM [default: 5s]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l guard-unit -d 'A systemd unit or a cgroup path to guard; may be repeated, implies --guard [default: kubelet.service, kube-proxy.service]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l guard-user -d 'A user to guard, by number; may be repeated, implies --guard' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l guard-fallback -d 'What is done to a unit whose dead connections can\'t be aborted: none, systemctl or watchdog [default: none]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l log-format -d 'Form of a log line: text or json [default: text]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l log-level -d 'What is logged: error, warn, info or debug [default: info]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l client-kubeconfig -d 'A kubeconfig of a client on this node, which is looked at too; may be repeated' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l node-monitor-grace-period -d 'The cluster\'s --node-monitor-grace-period (kube-controller-manager) [default: 40s, that of Kubernetes before 1.32; it is 50s since]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l node-lease-duration -d 'The kubelet\'s nodeLeaseDurationSeconds; a heartbeat goes out each quarter of it [default: 40s]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l node-status-update-frequency -d 'The kubelet\'s --node-status-update-frequency, which also bounds one heartbeat [default: 10s]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l guard -d 'Watch API connections of other programs too, and abort the dead ones'
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l guard-everyone -d 'Guard every API connection in the network namespace; implies --guard'
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -l guard-dry-run -d 'Only report what the guard would abort; implies --guard'
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand check" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand demo" -l out -d 'Where report.html and report.json go' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand demo" -l time-scale -d 'Stock seconds per second: the client\'s clocks, DNS lifetimes and the timeline run so much faster. Holdfast\'s own timers are never scaled' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand demo" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand demo" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and not __fish_seen_subcommand_from audit collect explain what-if help" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and not __fish_seen_subcommand_from audit collect explain what-if help" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and not __fish_seen_subcommand_from audit collect explain what-if help" -f -a "audit" -d 'Find nodes whose way to the internet may be taken away, and say what to change'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and not __fish_seen_subcommand_from audit collect explain what-if help" -f -a "collect" -d 'Fetch from Azure what the other commands read with `--from`'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and not __fish_seen_subcommand_from audit collect explain what-if help" -f -a "explain" -d 'Show how each node reaches the internet, on what that rests, and what would take it away'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and not __fish_seen_subcommand_from audit collect explain what-if help" -f -a "what-if" -d 'Show what an operation would do to each node\'s way to the internet'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and not __fish_seen_subcommand_from audit collect explain what-if help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l from -d 'A folder with what `az network lb list -o json` and its like print: lb.json, nic.json, vmss-nic.json, vnet.json, nat-gateway.json, public-ip.json, route-table.json, vm.json, vmss.json, nodes.json, services.json' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l subscription -d 'Subscription to read; may be given several times' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l cloud -d 'Which of Azure\'s clouds' -r -f -a "public\t'management.azure.com'
usgov\t'management.usgovcloudapi.net'
china\t'management.chinacloudapi.cn'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l auth -d 'How to sign in' -r -f -a "auto\t'The first for which something is given: federated token, secret or certificate, `az`, else the managed identity'
managed-identity\t'The identity of this VM'
workload-identity\t'A pod\'s service account token, exchanged'
service-principal\t'An application\'s secret or certificate'
cli\t'Whoever is signed in with `az login`'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l tenant -d 'Tenant to sign in to' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l client-id -d 'Application, or user-assigned identity, to sign in as' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l client-certificate -d 'The application\'s certificate and RSA key in PEM. Its secret is taken from the variable `AZURE_CLIENT_SECRET` alone' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l federated-token -d 'The pod\'s service account token, for workload identity' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l arm-endpoint -d 'Another Resource Manager [default: that of the cloud]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l authority -d 'Another authority to sign in at [default: that of the cloud]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l arm-ca -d 'CA certificates in PEM to trust beside the machine\'s own' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l cluster-name -d 'The cluster\'s name, after which the cloud provider names the pools that it manages [default: that of each pool\'s load balancer]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -s o -l output -d 'What to print' -r -f -a "table\t'Findings for people, with what to change and the command that does it'
json\t'JSON for programs'
junit\t'`JUnit` XML for pipelines'
sarif\t'SARIF 2.1.0 for code scanning'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -l live -d 'Ask Azure Resource Manager instead'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from audit" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l to -d 'The folder to write; it is made if it isn\'t there' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l subscription -d 'Subscription to read; may be given several times' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l cloud -d 'Which of Azure\'s clouds' -r -f -a "public\t'management.azure.com'
usgov\t'management.usgovcloudapi.net'
china\t'management.chinacloudapi.cn'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l auth -d 'How to sign in' -r -f -a "auto\t'The first for which something is given: federated token, secret or certificate, `az`, else the managed identity'
managed-identity\t'The identity of this VM'
workload-identity\t'A pod\'s service account token, exchanged'
service-principal\t'An application\'s secret or certificate'
cli\t'Whoever is signed in with `az login`'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l tenant -d 'Tenant to sign in to' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l client-id -d 'Application, or user-assigned identity, to sign in as' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l client-certificate -d 'The application\'s certificate and RSA key in PEM. Its secret is taken from the variable `AZURE_CLIENT_SECRET` alone' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l federated-token -d 'The pod\'s service account token, for workload identity' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l arm-endpoint -d 'Another Resource Manager [default: that of the cloud]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l authority -d 'Another authority to sign in at [default: that of the cloud]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -l arm-ca -d 'CA certificates in PEM to trust beside the machine\'s own' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from collect" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l from -d 'A folder with what `az network lb list -o json` and its like print: lb.json, nic.json, vmss-nic.json, vnet.json, nat-gateway.json, public-ip.json, route-table.json, vm.json, vmss.json, nodes.json, services.json' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l subscription -d 'Subscription to read; may be given several times' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l cloud -d 'Which of Azure\'s clouds' -r -f -a "public\t'management.azure.com'
usgov\t'management.usgovcloudapi.net'
china\t'management.chinacloudapi.cn'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l auth -d 'How to sign in' -r -f -a "auto\t'The first for which something is given: federated token, secret or certificate, `az`, else the managed identity'
managed-identity\t'The identity of this VM'
workload-identity\t'A pod\'s service account token, exchanged'
service-principal\t'An application\'s secret or certificate'
cli\t'Whoever is signed in with `az login`'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l tenant -d 'Tenant to sign in to' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l client-id -d 'Application, or user-assigned identity, to sign in as' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l client-certificate -d 'The application\'s certificate and RSA key in PEM. Its secret is taken from the variable `AZURE_CLIENT_SECRET` alone' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l federated-token -d 'The pod\'s service account token, for workload identity' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l arm-endpoint -d 'Another Resource Manager [default: that of the cloud]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l authority -d 'Another authority to sign in at [default: that of the cloud]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l arm-ca -d 'CA certificates in PEM to trust beside the machine\'s own' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l cluster-name -d 'The cluster\'s name, after which the cloud provider names the pools that it manages [default: that of each pool\'s load balancer]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
wide\t'A wider one, with whole resource ids and what would take each way away'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -l live -d 'Ask Azure Resource Manager instead'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from explain" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l from -d 'A folder with what `az network lb list -o json` and its like print: lb.json, nic.json, vmss-nic.json, vnet.json, nat-gateway.json, public-ip.json, route-table.json, vm.json, vmss.json, nodes.json, services.json' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l subscription -d 'Subscription to read; may be given several times' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l cloud -d 'Which of Azure\'s clouds' -r -f -a "public\t'management.azure.com'
usgov\t'management.usgovcloudapi.net'
china\t'management.chinacloudapi.cn'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l auth -d 'How to sign in' -r -f -a "auto\t'The first for which something is given: federated token, secret or certificate, `az`, else the managed identity'
managed-identity\t'The identity of this VM'
workload-identity\t'A pod\'s service account token, exchanged'
service-principal\t'An application\'s secret or certificate'
cli\t'Whoever is signed in with `az login`'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l tenant -d 'Tenant to sign in to' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l client-id -d 'Application, or user-assigned identity, to sign in as' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l client-certificate -d 'The application\'s certificate and RSA key in PEM. Its secret is taken from the variable `AZURE_CLIENT_SECRET` alone' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l federated-token -d 'The pod\'s service account token, for workload identity' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l arm-endpoint -d 'Another Resource Manager [default: that of the cloud]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l authority -d 'Another authority to sign in at [default: that of the cloud]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l arm-ca -d 'CA certificates in PEM to trust beside the machine\'s own' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l cluster-name -d 'The cluster\'s name, after which the cloud provider names the pools that it manages [default: that of each pool\'s load balancer]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -s o -l output -d 'What to print' -r -f -a "table\t'A table of the nodes for which something changes'
wide\t'The same with every node'
json\t'JSON for programs, with every node'"
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -l live -d 'Ask Azure Resource Manager instead'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "remove" -d 'Take a node\'s NIC out of a backend pool'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "add" -d 'Put a node\'s NIC into a backend pool'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "drop-rules" -d 'Delete the load-balancing rules of a pool'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "drop-outbound-rule" -d 'Delete the outbound rules of a pool'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "disable-snat" -d 'Set disableOutboundSnat on the load-balancing rules of a pool'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "detach-nat-gateway" -d 'Take the NAT gateway off a subnet'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "detach-nat-address" -d 'Take an address off a NAT gateway'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "detach-address" -d 'Take the public address off a node\'s NIC'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "private-subnet" -d 'Make a subnet private; the answer is about VMs that were deallocated since'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "none-route" -d 'Give a subnet a default route with next hop None'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "delete-last-service" -d 'Delete the last public Service, and with it the public load balancer'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "terraform" -d 'Apply a Terraform plan'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from what-if" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from help" -f -a "audit" -d 'Find nodes whose way to the internet may be taken away, and say what to change'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from help" -f -a "collect" -d 'Fetch from Azure what the other commands read with `--from`'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from help" -f -a "explain" -d 'Show how each node reaches the internet, on what that rests, and what would take it away'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from help" -f -a "what-if" -d 'Show what an operation would do to each node\'s way to the internet'
complete -c holdfast -n "__fish_holdfast_using_subcommand egress; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix goals bench azure list show help" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix goals bench azure list show help" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix goals bench azure list show help" -f -a "run" -d 'Run scenarios and measure what each subject met'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix goals bench azure list show help" -f -a "matrix" -d 'Let the same faults happen to Holdfast and to other proxies, and compare what they meet'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix goals bench azure list show help" -f -a "goals" -d 'Measure what Holdfast is to reach, and say whether it does'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix goals bench azure list show help" -f -a "bench" -d 'Measure what the data path costs beside its peers, on this machine'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix goals bench azure list show help" -f -a "azure" -d 'Stand in for Azure Resource Manager on this machine, with the egress model as its data plane'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix goals bench azure list show help" -f -a "list" -d 'List the built-in scenarios'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix goals bench azure list show help" -f -a "show" -d 'Print a built-in scenario\'s file, to read it or to write one of your own'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix goals bench azure list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l subjects -d 'Who meets the fault, each on a node of its own; as the scenario says unless given' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l time-scale -d 'Stock seconds per second: the client\'s clocks, DNS lifetimes and the timeline run so much faster. Holdfast\'s own timers are never scaled' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l components -d 'Folder with the programs of Kubernetes; unless given, what `e2e/kubernetes/build` made last' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l grace-period -d 'After how long without a heartbeat kube-controller-manager calls a node not Ready, in seconds; its version\'s own figure unless given (50 from 1.32 on, 40 before)' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l html -d 'Also write a page with a picture of each run' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l json -d 'Also write the results as JSON' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l jobs -d 'How many scenarios run at the same time' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l real -d 'Run it with real components instead of the lab\'s stand-ins: etcd, kube-apiserver and kube-controller-manager, haproxy as the balancers, and the kubelet\'s own code as the clients'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l live -d 'Tell on standard error what happens while it happens'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from matrix" -l faults -d 'Names of scenarios, or paths of scenario files; unless given, every built-in one that means something to other proxies too' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from matrix" -l subjects -d 'Who meets them; whose program is not installed is left out, and named' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from matrix" -l loops -d 'How often each fault happens' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from matrix" -l jobs -d 'How many worlds there are at the same time; more than the machine bears spoils the figures' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from matrix" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from matrix" -l json -d 'Also write the figures as JSON' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from matrix" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from matrix" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from goals" -l faults -d 'Names of scenarios with goals, or paths of scenario files; every built-in one unless given' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from goals" -l loops -d 'How often each is run; a goal is met when it is met each time' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from goals" -l jobs -d 'How many run at the same time; more than the machine bears spoils the figures' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from goals" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from goals" -l json -d 'Also write the figures as JSON' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from goals" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from goals" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -l rounds -d 'How often each subject is measured; medians need more than two' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -l seconds -d 'How long each of the four timed measurements takes, in seconds' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -l subjects -d 'Who is measured; those whose programs are not installed are left out, and named' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -l json -d 'Also write the figures as JSON' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l listen -d 'Where to listen; port 0 lets the kernel choose' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l from -d 'Start with what `az … -o json` printed into this folder, or `holdfast egress collect`' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l dump -d 'Write such a folder at the end' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l subscription -d 'The subscription that is there without any resource; with --from, the folder\'s own' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l latency -d 'How long an operation goes on after its answer; 0s ends it at once' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l page-size -d 'How many resources a page of a list has' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l limits -d 'The request budget, as bucket and refill per second of reads, writes and deletes; `none` for no budget' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l token -d 'A token that is always good, beside those that the token endpoints give out' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l client-secret -d 'The secret that client credentials must show; any unless given' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l metadata -d 'Give tokens to managed identities there, over plain HTTP at /metadata/identity/oauth2/token' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l certificates -d 'Where certificates go; a folder among the temporary files unless given' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l network -d 'Put each VM into a network namespace in which it reaches the internet, another namespace, only as far as the egress model says; `POST /lab/dial` tries it'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -l until-input-ends -d 'End when standard input ends, as a child of a test should'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from azure" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from list" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from list" -l real -d 'Those that need real components, instead of those that need none'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run scenarios and measure what each subject met'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "matrix" -d 'Let the same faults happen to Holdfast and to other proxies, and compare what they meet'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "goals" -d 'Measure what Holdfast is to reach, and say whether it does'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "bench" -d 'Measure what the data path costs beside its peers, on this machine'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "azure" -d 'Stand in for Azure Resource Manager on this machine, with the egress model as its data plane'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the built-in scenarios'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print a built-in scenario\'s file, to read it or to write one of your own'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l kubeconfig -d 'Kubeconfig with which the API is asked; it needs more rights than the kubelet\'s own' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l node-name -d 'Name of this node in the cluster [default: the host\'s name]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l unit -d 'A unit that is cured, the kubelet first; may be repeated' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l api-port -d 'A port of the API servers or of a proxy before them; may be repeated [default: the kubeconfig\'s]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l interval -d 'Time between two checks' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l failures -d 'Checks in a row that must find the node not ready' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l settle -d 'Time for the node to become ready after its connections were severed' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l hold-down -d 'Shortest time between two restarts of one unit' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l restarts -d 'Restarts of one unit in an hour' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l spread -d 'Time over which a fleet spreads its restarts' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l share -d 'Nodes in a hundred that may restart their units at once' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l lease-namespace -d 'Namespace of the leases by which the fleet agrees on that' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l state-file -d 'File for the latest restarts' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -s o -l output -d 'What to print with --once' -r -f -a "text\t'A line for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l log-format -d 'Form of a log line: text or json' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l log-level -d 'What is logged: error, warn, info or debug' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l no-restart -d 'Never restart a unit; sever connections alone'
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -l once -d 'Ask once, print the answer, and end: 0 when the node is ready, 1 when it is not'
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand node-check" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand plan; and not __fish_seen_subcommand_from egress help" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand plan; and not __fish_seen_subcommand_from egress help" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand plan; and not __fish_seen_subcommand_from egress help" -f -a "egress" -d 'Decide, row by row, what an operation does to a node\'s way to the internet (Azure)'
complete -c holdfast -n "__fish_holdfast_using_subcommand plan; and not __fish_seen_subcommand_from egress help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand plan; and __fish_seen_subcommand_from egress" -s i -l input -d 'How the rows on standard input are written; answers are written the same way' -r -f -a "csv\t'Comma-separated values, with the columns\' names in the first line'
json\t'One JSON object per line'"
complete -c holdfast -n "__fish_holdfast_using_subcommand plan; and __fish_seen_subcommand_from egress" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand plan; and __fish_seen_subcommand_from egress" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "egress" -d 'Decide, row by row, what an operation does to a node\'s way to the internet (Azure)'
complete -c holdfast -n "__fish_holdfast_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand release" -l kubeconfig -d 'A kubeconfig that was adopted; may be repeated' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand release" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand release" -l dry-run -d 'Verify, show what would be changed, and change nothing'
complete -c holdfast -n "__fish_holdfast_using_subcommand release" -l force -d 'Release also when the server of old does not answer while the agent serves'
complete -c holdfast -n "__fish_holdfast_using_subcommand release" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand release" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand status" -l admin -d 'The agent\'s admin address' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand status" -l actions -d 'How many of the latest actions to show' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand status" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand status" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l name -d 'DNS name of the API endpoint, without scheme and port' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l state-file -d 'File for what is known: addresses with their ages, and the latest restarts' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l unit -d 'A unit whose connections are watched; may be repeated' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l strategy -d 'What is done to a unit that is connected to an address that left DNS' -r -f -a "sever\t'Abort its connections to that address, and nothing else'
systemctl\t'Restart it through systemd'
watchdog\t'Let systemd\'s watchdog restart it, as its Restart= says'"
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l fallback -d 'What is done where severing is not possible' -r -f -a "none\t'Nothing but saying so'
systemctl\t'Restart it through systemd'
watchdog\t'Let systemd\'s watchdog restart it, as its Restart= says'"
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l interval -d 'Seconds between two looks at connections while an address has left DNS' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l grace-period -d 'Grace period of the node controller: a fleet spreads its actions over what is left of it' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l start-time -d 'Time in which a unit starts and is heard of again' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l hold-down -d 'Shortest time between two restarts of one unit' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l restarts -d 'Restarts of one unit in an hour' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l dns-server -d 'A resolver to ask; may be repeated [default: those of /etc/resolv.conf]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l lifetimes -d 'Record lifetimes without an address before it has left' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -s o -l output -d 'What to print with --show' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l log-format -d 'Form of a log line: text or json' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l log-level -d 'What is logged: error, warn, info or debug' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -l show -d 'Show what the watcher on this node knows and has done, and end'
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand watch" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "adopt" -d 'Send the clients of kubeconfigs through the agent on this node, once that is proved to work'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "agent" -d 'Run the node-local load balancer in front of the API servers'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "check" -d 'Look at this node and its cluster, and say what must be mended'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "demo" -d 'Show the outage and the cure, in a world of network namespaces'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "egress" -d 'Know, predict and audit how each node reaches the internet (Azure)'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "lab" -d 'Meet real faults in worlds of network namespaces, and measure'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "node-check" -d 'Cure this node when the API server says that it is not ready'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "plan" -d 'Decide on given facts, and touch nothing'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "release" -d 'Send the clients of adopted kubeconfigs back to where they went before'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "status" -d 'Show what the agent on this node knows, has done, and why'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "watch" -d 'Keep units off addresses that have left DNS'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from adopt agent check demo egress lab node-check plan release status watch help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from egress" -f -a "audit" -d 'Find nodes whose way to the internet may be taken away, and say what to change'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from egress" -f -a "collect" -d 'Fetch from Azure what the other commands read with `--from`'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from egress" -f -a "explain" -d 'Show how each node reaches the internet, on what that rests, and what would take it away'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from egress" -f -a "what-if" -d 'Show what an operation would do to each node\'s way to the internet'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "run" -d 'Run scenarios and measure what each subject met'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "matrix" -d 'Let the same faults happen to Holdfast and to other proxies, and compare what they meet'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "goals" -d 'Measure what Holdfast is to reach, and say whether it does'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "bench" -d 'Measure what the data path costs beside its peers, on this machine'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "azure" -d 'Stand in for Azure Resource Manager on this machine, with the egress model as its data plane'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "list" -d 'List the built-in scenarios'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "show" -d 'Print a built-in scenario\'s file, to read it or to write one of your own'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "egress" -d 'Decide, row by row, what an operation does to a node\'s way to the internet (Azure)'
