/**
 * The first process of a command's sandbox, a perl program of which nothing outlives the command. It tests the sandbox
 * it finds itself in and says what it found, makes the output pipes, waits for the one command, sets its limits,
 * starts it, reports its raw wait status and ends: the kernel then kills whatever the command has left behind.
 *
 * Arguments: descriptor of the control channel; 1 where there is isolation to test, 0 otherwise; numbers of prlimit,
 * prctl, close_range; then `resource=limit` pairs.
 * Control channel: out `ready key=value...\n`, later `exit <wait status>\n`; in the frame of init-parts.ts.
 */
import { INIT_COMMAND, INIT_FACTS } from './init-parts.ts';

export const COMMAND_INIT = String.raw`
$0 = 'init';
our ($fd, $isolated, $prlimit, $prctl, $close_range, @limits) = @ARGV;
open(my $control, '+<&=', $fd) or exit 70;
${INIT_FACTS}${INIT_COMMAND}
my ($out_read, $out_write, $err_read, $err_write);
pipe($out_read, $out_write) && pipe($err_read, $err_write) or exit 70;
syswrite $control, join(' ', 'ready', facts(), 'stdout=' . fileno($out_read), 'stderr=' . fileno($err_read)) . "\n";

my ($has_stdin, $stdin, $count, @rest) = receive($control);
my @env = splice @rest, 0, $count;
close $out_read; close $err_read;
stdin($has_stdin, $stdin);
my $child = fork;
exit 72 unless defined $child;
become($out_write, $err_write, \@env, @rest) if $child == 0;
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
