/**
 * What a task starts with, a perl program that becomes the daemon. Before that it starts the sandbox of the command,
 * so that the two get ready side by side, and the daemon need not fork: perl does that in a tenth of the time and
 * memory of Node. The sandbox waits for the daemon on a socket, and knows nothing of a run.
 *
 * Arguments: file of the command's seccomp program, number of arguments of bubblewrap, these (with CONTROL, REPORT
 * and SECCOMP in place of descriptors), then the daemon and its arguments. The daemon finds its ends of control
 * channel, report and stderr of bubblewrap, in this order, in COGNITION_COMMAND_FDS.
 */
export const TASK_ENTRY = `
my ($filter, $count, @rest) = @ARGV;
my @sandbox = splice @rest, 0, $count;
sub keep { fcntl($_[0], 2, 0) or die "fcntl: $!"; return fileno $_[0] }
socketpair(my $ours, my $theirs, 1, 1, 0) or die "socketpair: $!";
pipe(my $report, my $report_out) && pipe(my $said, my $said_out) or die "pipe: $!";
my $child = fork;
die "fork: $!" unless defined $child;
if ($child == 0) {
  open(my $seccomp, '<', $filter) or die "$filter: $!";
  my %fd = (CONTROL => keep($theirs), REPORT => keep($report_out), SECCOMP => keep($seccomp));
  open(STDERR, '>&', $said_out) or die "dup: $!";
  %ENV = ();
  exec { '/usr/bin/bwrap' } 'bwrap', map { exists $fd{$_} ? $fd{$_} : $_ } @sandbox or die "bwrap: $!";
}
$ENV{COGNITION_COMMAND_FDS} = join ',', map { keep($_) } $ours, $report, $said;
exec { $rest[0] } @rest or die "$rest[0]: $!";
`;
