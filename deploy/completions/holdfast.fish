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
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "agent" -d 'Run the node-local load balancer in front of the API servers'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "demo" -d 'Show the outage and the cure, in a world of network namespaces'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "lab" -d 'Meet real faults in worlds of network namespaces, and measure'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "plan" -d 'Decide on given facts, and touch nothing'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "status" -d 'Show what the agent on this node knows, has done, and why'
complete -c holdfast -n "__fish_holdfast_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l config -d 'Configuration file, one YAML document' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l endpoint -d 'The cluster\'s endpoint as nodes know it; its name is watched in DNS' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l ca -d 'PEM certificates of the cluster\'s CA' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l server-name -d 'Name that the API servers\' certificate must be for [default: the endpoint\'s host]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l node-name -d 'Name of this node; decides which upstream it prefers [default: the host\'s name]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l listen -d 'Loopback address that clients connect to; may be repeated [default: 127.0.0.1:6445 and [::1]:6445]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l admin -d 'Loopback address of /livez, /readyz, /status and /metrics [default: 127.0.0.1:6446]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l seed -d 'An API server that is always tried, whatever DNS says; may be repeated' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l kubeconfig -d 'Kubeconfig that may read the API servers\' own list of themselves' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l cache -d 'File in which the last good set of addresses is remembered' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l dns-server -d 'A resolver to ask; may be repeated [default: those of /etc/resolv.conf]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l probe-interval -d 'Time between two probes of one upstream [default: 500ms]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l drain-timeout -d 'Time for which connections stay on an upstream that drains [default: 10m]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l shutdown-timeout -d 'Time that open connections get to end after SIGTERM [default: 5s]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l log-format -d 'Form of a log line: text or json [default: text]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -l log-level -d 'What is logged: error, warn, info or debug [default: info]' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand agent" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand demo" -l out -d 'Where report.html and report.json go' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand demo" -l time-scale -d 'Stock seconds per second: the client\'s clocks, DNS lifetimes and the timeline run so much faster. Holdfast\'s own timers are never scaled' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand demo" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand demo" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix bench list show help" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix bench list show help" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix bench list show help" -f -a "run" -d 'Run scenarios and measure what each subject met'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix bench list show help" -f -a "matrix" -d 'Let the same faults happen to Holdfast and to other proxies, and compare what they meet'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix bench list show help" -f -a "bench" -d 'Measure what the data path costs beside its peers, on this machine'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix bench list show help" -f -a "list" -d 'List the built-in scenarios'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix bench list show help" -f -a "show" -d 'Print a built-in scenario\'s file, to read it or to write one of your own'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and not __fish_seen_subcommand_from run matrix bench list show help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l subjects -d 'Who meets the fault, each on a node of its own; as the scenario says unless given' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l time-scale -d 'Stock seconds per second: the client\'s clocks, DNS lifetimes and the timeline run so much faster. Holdfast\'s own timers are never scaled' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l html -d 'Also write a page with a picture of each run' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l json -d 'Also write the results as JSON' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from run" -l jobs -d 'How many scenarios run at the same time' -r
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
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -l rounds -d 'How often each subject is measured; medians need more than two' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -l seconds -d 'How long each of the four timed measurements takes, in seconds' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -l subjects -d 'Who is measured; those whose programs are not installed are left out, and named' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -l json -d 'Also write the figures as JSON' -r -F
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from bench" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from list" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "run" -d 'Run scenarios and measure what each subject met'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "matrix" -d 'Let the same faults happen to Holdfast and to other proxies, and compare what they meet'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "bench" -d 'Measure what the data path costs beside its peers, on this machine'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "list" -d 'List the built-in scenarios'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "show" -d 'Print a built-in scenario\'s file, to read it or to write one of your own'
complete -c holdfast -n "__fish_holdfast_using_subcommand lab; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
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
complete -c holdfast -n "__fish_holdfast_using_subcommand status" -l admin -d 'The agent\'s admin address' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand status" -l actions -d 'How many of the latest actions to show' -r
complete -c holdfast -n "__fish_holdfast_using_subcommand status" -s o -l output -d 'What to print' -r -f -a "table\t'A table for people'
json\t'JSON for programs'"
complete -c holdfast -n "__fish_holdfast_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c holdfast -n "__fish_holdfast_using_subcommand status" -s V -l version -d 'Print version'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from agent demo lab plan status help" -f -a "agent" -d 'Run the node-local load balancer in front of the API servers'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from agent demo lab plan status help" -f -a "demo" -d 'Show the outage and the cure, in a world of network namespaces'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from agent demo lab plan status help" -f -a "lab" -d 'Meet real faults in worlds of network namespaces, and measure'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from agent demo lab plan status help" -f -a "plan" -d 'Decide on given facts, and touch nothing'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from agent demo lab plan status help" -f -a "status" -d 'Show what the agent on this node knows, has done, and why'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and not __fish_seen_subcommand_from agent demo lab plan status help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "run" -d 'Run scenarios and measure what each subject met'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "matrix" -d 'Let the same faults happen to Holdfast and to other proxies, and compare what they meet'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "bench" -d 'Measure what the data path costs beside its peers, on this machine'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "list" -d 'List the built-in scenarios'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from lab" -f -a "show" -d 'Print a built-in scenario\'s file, to read it or to write one of your own'
complete -c holdfast -n "__fish_holdfast_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "egress" -d 'Decide, row by row, what an operation does to a node\'s way to the internet (Azure)'
