/** Report of ticket-analysis in, Markdown digest out. SKILL.md has the options. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

class BadInput extends Error {}

/** Checks a value's form on the way, so that the message names the place and not a property of undefined. */
function at(report, path, type) {
  let value = report;
  for (const key of path.split('.')) {
    value = value !== null && typeof value === 'object' && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  const fits = type === 'list' ? Array.isArray(value) : type === 'number?' ? value === null || typeof value === 'number' : typeof value === type;
  if (!fits) throw new BadInput(`report.${path} is not a ${type.replace('?', ' or null')}: is this a report of ticket-analysis?`);
  return value;
}

function readReport(input) {
  const piped = input === undefined && !process.stdin.isTTY ? readFileSync(0, 'utf8') : '';
  const source = input ?? (piped.trim() === '' ? join('inputs', 'report.json') : 'standard input');
  const text = piped.trim() === '' ? readFileSync(source, 'utf8') : piped;
  let report;
  try {
    report = JSON.parse(text);
  } catch (error) {
    throw new BadInput(`${source}: ${error.message}`);
  }
  if (at(report, 'version', 'number') !== 1) throw new BadInput(`${source}: version ${report.version} is not known, only 1 is`);
  return report;
}

/** Text of tickets in a table or list: one line, nothing that Markdown would act on. */
const plain = (text) => String(text).replace(/\s+/g, ' ').replace(/[\\`*_{}[\]<>|#!~]/g, '\\$&');
const percent = (share) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
const hours = (value) => (value === null ? '–' : value < 48 ? `${value.toFixed(1)} h` : `${(value / 24).toFixed(1)} d`);

function table(header, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map((_, column) => (column === 0 ? '---' : '---:'))), ...rows.map(line)];
}

function overview(report) {
  const period = (field) => at(report, `period.${field}`, 'string').slice(0, 10);
  const weeks = at(report, 'volumes.by_week', 'list');
  const busiest = weeks.reduce((most, week) => (week.count > most.count ? week : most), { count: -1 });
  return [
    `**${at(report, 'period.tickets', 'number')} tickets** from ${period('first_created_at')} to ${period('last_created_at')}, ` +
      `${at(report, 'period.open', 'number')} still open. ` +
      `Half were resolved within **${hours(at(report, 'resolution_hours.overall.p50', 'number?'))}**, ` +
      `nine of ten within ${hours(at(report, 'resolution_hours.overall.p90', 'number?'))}.`,
    ...(busiest.count > 0 ? ['', `Busiest week: ${plain(busiest.week)} with ${busiest.count} tickets.`] : []),
  ];
}

function service(report, worstCount) {
  const priorities = at(report, 'sla.by_priority', 'list');
  const targets = at(report, 'sla.targets_hours', 'object');
  const rows = priorities.map(({ name, tickets, breaches, breach_rate }) => [
    plain(name),
    `${targets[name]} h`,
    hours(at(report, `resolution_hours.by_priority.${name}.p50`, 'number?')),
    tickets,
    breaches,
    percent(breach_rate),
  ]);
  const worst = at(report, 'sla.worst', 'list').slice(0, worstCount);
  const late = worst.map(
    (ticket) =>
      `- **${plain(ticket.id)}** ${plain(ticket.subject)} (${plain(ticket.category)}, ${plain(ticket.priority)}): ` +
      `${hours(ticket.hours)} of ${hours(ticket.target_hours)}${ticket.open ? ', still open' : ''}`,
  );
  return [
    `${at(report, 'sla.breaches', 'number')} tickets (${percent(at(report, 'sla.breach_rate', 'number'))}) took longer than allowed.`,
    '',
    ...table(['Priority', 'Allowed', 'Median', 'Tickets', 'Late', 'Rate'], rows),
    ...(late.length > 0 ? ['', 'Furthest over:', '', ...late] : []),
  ];
}

function topics(report) {
  const categories = at(report, 'volumes.by_category', 'list');
  const rising = at(report, 'keywords.rising', 'list').slice(0, 5);
  return [
    ...table(
      ['Category', 'Tickets', 'Share', 'Median'],
      categories.map(({ name, count, share }) => [
        plain(name),
        count,
        percent(share),
        hours(report.resolution_hours?.by_category?.[name]?.p50 ?? null),
      ]),
    ),
    '',
    rising.length === 0
      ? 'No keyword has become more frequent.'
      : `More frequent since ${at(report, 'keywords.recent_since', 'string').slice(0, 10)}: ` +
        `${rising.map((word) => `**${plain(word.keyword)}** (${percent(word.share_before)} → ${percent(word.share_recent)})`).join(', ')}.`,
  ];
}

function options(args) {
  try {
    const { values } = parseArgs({
      args,
      options: { input: { type: 'string' }, title: { type: 'string' }, worst: { type: 'string' } },
    });
    const worst = Number(values.worst ?? 5);
    if (!Number.isInteger(worst) || worst < 0 || worst > 10) throw new BadInput('--worst is a number from 0 to 10');
    return { input: values.input, title: values.title ?? 'Support digest', worst };
  } catch (error) {
    throw error instanceof BadInput ? error : new BadInput(error.message);
  }
}

function main(args) {
  const { input, title, worst } = options(args);
  const report = readReport(input);
  const lines = [
    `# ${plain(title)}`,
    '',
    ...overview(report),
    '',
    '## Service level',
    '',
    ...service(report, worst),
    '',
    '## Topics',
    '',
    ...topics(report),
    '',
  ];
  const folder = process.env.OUTPUT_DIR ?? '/outputs';
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'digest.md'), lines.join('\n'));
  process.stdout.write(lines.join('\n'));
}

try {
  main(process.argv.slice(2));
} catch (error) {
  const message = error instanceof TypeError ? `the report is not what ticket-analysis writes: ${error.message}` : error.message;
  process.stderr.write(`digest: ${message}\n`);
  process.exitCode = 2;
}
