/**
 * The perl that the inits of all forms of the sandbox are made of.
 *
 * Perl, because it is on every Debian and Ubuntu, starts in 2 ms, and can make pipes and system calls, of which
 * Node can do neither and shells only half. Pipes are pipes here, not the socket pairs of Node, so that
 * `/dev/stdout` can be opened.
 */

/**
 * What a process finds out about the sandbox it is in, as `key=value` pairs. Beside command-identity.ts, which says
 * what they must be. Needs `$isolated`: without isolation nothing is tried that would leave a trace.
 */
export const INIT_FACTS = String.raw`
sub family { return socket(my $try, $_[0], $_[0] == 16 || $_[0] == 17 ? 3 : 1, 0) ? 0 : $! + 0 }
sub writes { return '' unless $isolated; return open(my $try, '>', $_[0]) ? 0 : $! + 0 }
sub distinct { my %seen = map { $_ => 1 } @_; return join ',', sort keys %seen }
sub facts {
  my (%status, @links);
  if (open(my $file, '<', '/proc/self/status')) {
    while (<$file>) { $status{$1} = $2 if /^(\w+):\s*(\S+)/ }
  }
  if (open(my $file, '<', '/proc/net/dev')) {
    while (<$file>) { push @links, $1 if /^\s*(\S+?):/ }
  }
  opendir(my $proc, '/proc'); my @pids = grep { /^\d+$/ } readdir $proc; closedir $proc;
  return ('caps=' . distinct(map { $status{$_} } grep { /^Cap/ } keys %status),
    'ids=' . distinct($<, $>, split(' ', $(), split(' ', $))),
    'nnp=' . $status{NoNewPrivs}, 'seccomp=' . $status{Seccomp}, 'filters=' . $status{Seccomp_filters},
    'links=' . join(',', @links), 'pids=' . scalar(@pids),
    'inet=' . family(2), 'inet6=' . family(10), 'netlink=' . family(16),
    'skills=' . writes('/skills/.probe'), 'inputs=' . writes('/workspace/inputs/.probe'),
    'root=' . writes('/.probe'));
}
`;

/**
 * How a command comes in and is started. It comes in one frame: u32be length and strings with u32be lengths: '1' or
 * '0' for stdin, stdin, number of variables, each `k=v`, each argument. Needs `$prlimit`, `$close_range` and
 * `@limits`, pairs of `resource=limit`.
 */
export const INIT_COMMAND = String.raw`
sub take {
  my ($from, $length, $bytes) = (@_, '');
  while (length $bytes < $length) {
    my $read = sysread $from, $bytes, $length - length $bytes, length $bytes;
    next if !defined $read && $! == 4;
    exit 0 unless $read;
  }
  return $bytes;
}
sub receive { return unpack '(N/a)*', take($_[0], unpack 'N', take($_[0], 4)) }
sub stdin {
  my ($has, $text) = @_;
  if (!$has) { open(STDIN, '<', '/dev/null') or exit 71; return }
  open(my $file, '+>', undef) or exit 71;
  syswrite($file, $text) == length $text or exit 71 if length $text;
  open(STDIN, '<', '/proc/self/fd/' . fileno $file) or open(STDIN, '<&', $file) && seek(STDIN, 0, 0) or exit 71;
}
sub become {
  my ($out, $err, $env, @argv) = @_;
  # A command may lower it again; then what the kernel kills when memory is short is this sandbox's own daemon.
  open(my $adjust, '>', '/proc/self/oom_score_adj') && syswrite $adjust, '1000';
  for (@limits) {
    my ($resource, $limit) = split /=/;
    my $pair = pack 'QQ', $limit, $limit;
    syscall($prlimit + 0, 0, $resource + 0, $pair, 0) == 0 or exit 73;
  }
  open(STDOUT, '>&', $out); open(STDERR, '>&', $err);
  %ENV = map { split /=/, $_, 2 } @$env;
  syscall $close_range + 0, 3, 4294967295, 4;
  exec { $argv[0] } @argv;
  my $missing = $! == 2;
  syswrite STDERR, "$argv[0]: $!\n";
  exit($missing ? 127 : 126);
}
`;
