/**
 * The two processes that start a command in a container, where no namespace can be made. Both are perl; see
 * init-parts.ts.
 *
 * The init is root, so that the command can neither signal it nor look into it. It makes the output pipes, starts the
 * launcher under the command's identity, passes on what that found about itself and the one frame of the
 * command, reports its raw wait status, and ends when no process of the identity is left. SIGTERM kills them all.
 *
 * The launcher is the identity, with every right taken away and its seccomp filter on, before anything of a run is
 * known. It becomes the command: what was tested is what runs.
 */
import { INIT_COMMAND, INIT_FACTS } from './init-parts.ts';

/**
 * Arguments: descriptor of the control channel; user and group of the command; program and arguments that make the
 * launcher, with FACTS, FRAME, OUT and ERR in place of descriptors. The control channel is that of command-init.ts.
 */
export const CONTAINER_INIT = String.raw`
$0 = 'init';
my ($fd, $uid, @launcher) = @ARGV;
open(my $control, '+<&=', $fd) or exit 70;
sub left {
  opendir(my $proc, '/proc') or die "/proc: $!\n";
  return grep {
    my ($state, $of) = ('Z', '');
    # A process that has made itself unreadable is root's to look at; what its status says is not.
    if (open(my $file, '<', "/proc/$_/status")) {
      while (<$file>) { $state = $1 if /^State:\s*(\w)/; $of = $1 if /^Uid:\s*(.*)/ }
    }
    $state !~ /[ZX]/ && grep { $_ == $uid } split(' ', $of);
  } grep { /^\d+$/ } readdir $proc;
}
sub sweep {
  local ($?, $!);
  for (;;) {
    my $killer = fork;
    if (defined $killer && $killer == 0) {
      # One call that reaches all processes of a user at once: none can fork its way out.
      $( = $uid; $) = "$uid $uid"; ($<, $>) = ($uid, $uid);
      kill 'KILL', -1 if $< == $uid && $> == $uid;
      exit 0;
    }
    waitpid $killer, 0 if defined $killer;
    # What has killed the killer, or was there when there was no room for one.
    my @left = left() or return;
    kill 'KILL', @left;
    select undef, undef, undef, 0.002;
  }
}
$SIG{PIPE} = 'IGNORE';
sub keep { fcntl($_[0], 2, 0) or die "fcntl: $!\n"; return fileno $_[0] }
sub take {
  my ($length, $bytes) = ($_[0], '');
  while (length $bytes < $length) {
    my $read = sysread $control, $bytes, $length - length $bytes, length $bytes;
    next if !defined $read && $! == 4;
    unless ($read) { sweep(); exit 0 }
  }
  return $bytes;
}
pipe(my $out_read, my $out_write) && pipe(my $err_read, my $err_write) or die "pipe: $!\n";
pipe(my $facts, my $facts_write) && pipe(my $frame_read, my $frame) or die "pipe: $!\n";
# So that the command can open /dev/stdout.
chown($uid, $uid, $out_write, $err_write) == 2 or die "chown: $!\n";
my $child = fork;
defined $child or die "fork: $!\n";
if ($child == 0) {
  my %fd = (FACTS => keep($facts_write), FRAME => keep($frame_read), OUT => keep($out_write), ERR => keep($err_write));
  setpgrp; umask 022; %ENV = ();
  $SIG{PIPE} = 'DEFAULT';
  exec { $launcher[0] } map { exists $fd{$_} ? $fd{$_} : $_ } @launcher or die "$launcher[0]: $!\n";
}
$SIG{TERM} = \&sweep;
close $_ for $facts_write, $frame_read, $out_write, $err_write;
my $found = '';
while (1) {
  my $read = sysread $facts, $found, 4096, length $found;
  next if !defined $read && $! == 4;
  last unless $read;
}
if ($found eq '') { waitpid $child, 0; exit 71 }
syswrite $control, "ready $found stdout=" . fileno($out_read) . ' stderr=' . fileno($err_read) . "\n";
my $head = take(4);
my $bytes = $head . take(unpack 'N', $head);
close $out_read; close $err_read;
for (my $at = 0; $at < length $bytes; ) {
  my $wrote = syswrite $frame, $bytes, length($bytes) - $at, $at;
  next if !defined $wrote && $! == 4;
  last unless $wrote;
  $at += $wrote;
}
close $frame;
undef $bytes;
waitpid $child, 0;
syswrite $control, "exit $?\n";
sweep();
exit 0;
`;

/**
 * Arguments: descriptors of facts, frame, stdout and stderr; numbers of prlimit and close_range; then
 * `resource=limit` pairs.
 */
export const CONTAINER_LAUNCHER = String.raw`
$0 = 'launcher';
our ($facts, $frame, $out, $err, $prlimit, $close_range, @limits) = @ARGV;
our $isolated = 1;
${INIT_FACTS}${INIT_COMMAND}
sub writable {
  my @found;
  open(my $mounts, '<', '/proc/self/mounts') or return 'unknown';
  while (<$mounts>) {
    my (undef, $path, undef, $options) = split ' ';
    push @found, $path if $options =~ /^rw\b/ && -w $path && !-c _;
  }
  return distinct(@found);
}
open(my $say, '>&=', $facts) or exit 70;
syswrite $say, join(' ', facts(), 'writable=' . writable());
close $say;
open(my $from, '<&=', $frame) or exit 70;
my ($has_stdin, $stdin, $count, @rest) = receive($from);
my @env = splice @rest, 0, $count;
stdin($has_stdin, $stdin);
# Daemon and command share processors: whatever the command starts, the daemon answers, and its init can end it.
setpriority 0, 0, 19;
become($out, $err, \@env, @rest);
`;
