/**
 * The first process of a command's sandbox, a perl program of which nothing outlives the command. It tests the sandbox
 * it finds itself in and says what it found, makes the output pipes, waits for the one command, sets its limits,
 * starts it, reports its raw wait status and ends: the kernel then kills whatever the command has left behind.
 *
 * Perl, because it is on every Debian and Ubuntu, starts in 2 ms, and can make pipes and system calls, of which
 * Node can do neither and shells only half. Pipes are pipes here, not the socket pairs of Node, so that
 * `/dev/stdout` can be opened.
 *
 * Arguments: descriptor of the control channel; 1 where there is isolation to test, 0 otherwise; numbers of prlimit, prctl, close_range; then `resource=limit` pairs.
 * Control channel: out `ready key=value...\n`, later `exit <wait status>\n`; in one frame, u32be
 * length and strings with u32be lengths: '1' or '0' for stdin, stdin, number of variables, each `k=v`, each argument.
 */
export const COMMAND_INIT = String.raw`
$0 = 'init';
my ($fd, $isolated, $prlimit, $prctl, $close_range, @limits) = @ARGV;
open(my $control, '+<&=', $fd) or exit 70;
my %status;
if (open(my $file, '<', '/proc/self/status')) {
  while (<$file>) { $status{$1} = $2 if /^(\w+):\s*(\S+)/ }
}
my @links;
if (open(my $file, '<', '/proc/net/dev')) {
  while (<$file>) { push @links, $1 if /^\s*(\S+?):/ }
}
opendir(my $proc, '/proc'); my @pids = grep { /^\d+$/ } readdir $proc; closedir $proc;
sub family { return socket(my $try, $_[0], $_[0] == 16 || $_[0] == 17 ? 3 : 1, 0) ? 0 : $! + 0 }
sub writes { return '' unless $isolated; return open(my $try, '>', $_[0]) ? 0 : $! + 0 }
my ($out_read, $out_write, $err_read, $err_write);
pipe($out_read, $out_write) && pipe($err_read, $err_write) or exit 70;
syswrite $control, join(' ', 'ready', 'caps=' . $status{CapEff}, 'nnp=' . $status{NoNewPrivs},
  'seccomp=' . $status{Seccomp}, 'filters=' . $status{Seccomp_filters}, 'links=' . join(',', @links),
  'pids=' . scalar(@pids), 'inet=' . family(2), 'inet6=' . family(10), 'netlink=' . family(16),
  'skills=' . writes('/skills/.probe'), 'inputs=' . writes('/workspace/inputs/.probe'),
  'root=' . writes('/.probe'), 'stdout=' . fileno($out_read), 'stderr=' . fileno($err_read)) . "\n";

sub take {
  my ($length, $bytes) = ($_[0], '');
  while (length $bytes < $length) {
    my $read = sysread $control, $bytes, $length - length $bytes, length $bytes;
    exit 0 unless $read;
  }
  return $bytes;
}
my ($has_stdin, $stdin, $count, @rest) = unpack '(N/a)*', take(unpack 'N', take(4));
my @env = splice @rest, 0, $count;
close $out_read; close $err_read;
if ($has_stdin) {
  open(my $file, '+>', undef) or exit 71;
  syswrite($file, $stdin) == length $stdin or exit 71 if length $stdin;
  open(STDIN, '<', '/proc/self/fd/' . fileno $file) or open(STDIN, '<&', $file) && seek(STDIN, 0, 0) or exit 71;
  close $file;
} else {
  open(STDIN, '<', '/dev/null') or exit 71;
}
my $child = fork;
exit 72 unless defined $child;
if ($child == 0) {
  open(my $adjust, '>', '/proc/self/oom_score_adj') && syswrite $adjust, '1000';
  for (@limits) {
    my ($resource, $limit) = split /=/;
    my $pair = pack 'QQ', $limit, $limit;
    syscall($prlimit + 0, 0, $resource + 0, $pair, 0) == 0 or exit 73;
  }
  open(STDOUT, '>&', $out_write); open(STDERR, '>&', $err_write);
  %ENV = map { split /=/, $_, 2 } @env;
  syscall $close_range + 0, 3, 4294967295, 4;
  exec { $rest[0] } @rest;
  my $missing = $! == 2;
  syswrite STDERR, "$rest[0]: $!\n";
  exit($missing ? 127 : 126);
}
syscall $prctl + 0, 4, 0, 0, 0, 0;
close $out_write; close $err_write; close STDIN;
# Where no namespace takes the command along, this does when the daemon is gone, and it ends with the init.
if (!$isolated && (fork // 1) == 0) {
  syscall $prctl + 0, 1, 9, 0, 0, 0;
  sysread $control, my $end, 1;
  kill 'KILL', -getpgrp;
}
while ((my $gone = waitpid -1, 0) > 0) {
  if ($gone == $child) { syswrite $control, "exit $?\n"; last }
}
exit 0;
`;
