/**
 * Writes tickets.json, the data of the examples: some hundreds of plausible support tickets of one half year. The
 * same seed gives the same bytes, so the file can be checked against this script.
 *
 *   node examples/data/generate-tickets.mjs > examples/data/tickets.json
 */
const COUNT = 420;
const FIRST_DAY = Date.UTC(2026, 0, 5);
const DAYS = 26 * 7;
const HOUR = 3_600_000;

/** mulberry32: small, good enough for example data, the same on every machine. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = generator(20_260_105);
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const weighted = (weights) => {
  let left = random() * Object.values(weights).reduce((sum, weight) => sum + weight, 0);
  for (const [name, weight] of Object.entries(weights)) {
    left -= weight;
    if (left < 0) return name;
  }
  return Object.keys(weights)[0];
};

const SUBJECTS = {
  billing: [
    'Charged twice for the {month} invoice',
    'Invoice {n} shows the wrong VAT number',
    'Refund for cancelled seats has not arrived',
    'Card declined although it works elsewhere',
    'Where can I download invoice {n}?',
    'Upgrade to annual plan is not on the invoice',
  ],
  login: [
    'Password reset email never arrives',
    'Locked out after changing phone, 2FA codes refused',
    'Session expires every few minutes',
    'SSO login loops back to the start page',
    'Cannot log in after the SSO migration',
    'SSO migration: no access to old workspace',
  ],
  performance: [
    'Dashboard takes {s} seconds to load',
    'Export of large report times out',
    'Search is slow since the last update',
    'API answers with 504 during peak hours',
    'Report export stuck at 99 percent',
  ],
  integration: [
    'Webhook deliveries stopped on {month} {d}',
    'Calendar sync creates duplicate events',
    'API returns 422 for valid payload',
    'Slack notifications arrive twice',
    'Webhook signature does not match the documentation',
  ],
  'data-loss': [
    'Attachments missing after import',
    'Comments disappeared from project board',
    'Import dropped rows with umlauts',
    'Deleted workspace restored without files',
  ],
  'how-to': [
    'How do I add a second workspace?',
    'Can I schedule a weekly report export?',
    'How to change the owner of a project?',
    'Is there a keyboard shortcut for archive?',
    'How can I invite a guest without a seat?',
  ],
};
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June'];
const CATEGORY_WEIGHTS = { billing: 24, login: 20, performance: 16, integration: 17, 'data-loss': 5, 'how-to': 18 };
const PRIORITY_WEIGHTS = {
  billing: { urgent: 3, high: 20, normal: 57, low: 20 },
  login: { urgent: 12, high: 38, normal: 42, low: 8 },
  performance: { urgent: 8, high: 30, normal: 50, low: 12 },
  integration: { urgent: 6, high: 28, normal: 54, low: 12 },
  'data-loss': { urgent: 45, high: 40, normal: 15, low: 0 },
  'how-to': { urgent: 0, high: 4, normal: 46, low: 50 },
};
/** Median hours until resolved; the spread around it is log-normal. */
const MEDIAN_HOURS = { urgent: 2.6, high: 5.5, normal: 17, low: 40 };
const CUSTOMERS = ['Acme', 'Birchwood', 'Contoso', 'Dunmore', 'Elm & Sons', 'Fjord AS', 'Gärtner GmbH', 'Hallam', 'Ibérica', 'Jovani'];
const AGENTS = ['amira', 'björn', 'chloe', 'dmitri', 'esther'];
const CHANNELS = { email: 55, chat: 25, web: 15, phone: 5 };

/** Close enough to normal: a sum of uniforms. */
const gaussian = () => Array.from({ length: 6 }, random).reduce((sum, value) => sum + value, -3) * Math.SQRT2;
const iso = (time) => new Date(Math.floor(time / 60_000) * 60_000).toISOString().replace('.000Z', 'Z');

const SSO_MIGRATION_WEEK = 21;
const inSurge = (week) => week >= SSO_MIGRATION_WEEK && week < SSO_MIGRATION_WEEK + 2;

/** Workdays are busier, volume grows a little, and the weeks after the SSO migration bring many logins. */
function moment() {
  for (;;) {
    const day = below(DAYS);
    const surge = inSurge(Math.floor(day / 7)) ? 1 : 0.55 + 0.25 * (day / DAYS);
    if (random() > surge) continue;
    const weekday = (1 + day) % 7;
    if ((weekday === 6 || weekday === 0) && random() < 0.75) continue;
    return FIRST_DAY + day * 24 * HOUR + (7 + below(12)) * HOUR + below(60) * 60_000;
  }
}

function ticket(at) {
  const week = Math.floor((at - FIRST_DAY) / (7 * 24 * HOUR));
  const surge = inSurge(week);
  const category = weighted(surge ? { ...CATEGORY_WEIGHTS, login: 70 } : CATEGORY_WEIGHTS);
  const priority = weighted(PRIORITY_WEIGHTS[category]);
  const hours = MEDIAN_HOURS[priority] * Math.exp(gaussian() * 0.75) * (surge ? 1.7 : 1);
  const resolved = at + hours * HOUR;
  const open = resolved > FIRST_DAY + DAYS * 24 * HOUR || random() < 0.015;
  const about = surge && category === 'login' ? SUBJECTS.login.slice(-3) : SUBJECTS[category];
  const subject = pick(about)
    .replace('{month}', pick(MONTHS))
    .replace('{n}', String(2026_0000 + below(9000)))
    .replace('{s}', String(8 + below(40)))
    .replace('{d}', String(1 + below(28)));
  return {
    subject,
    category,
    priority,
    status: open ? pick(['open', 'pending']) : 'resolved',
    channel: weighted(CHANNELS),
    customer: pick(CUSTOMERS),
    assignee: pick(AGENTS),
    created_at: iso(at),
    ...(open ? {} : { resolved_at: iso(resolved) }),
  };
}

const tickets = Array.from({ length: COUNT }, moment)
  .sort((a, b) => a - b)
  .map((at, index) => ({ id: `T-${1001 + index}`, ...ticket(at) }));

process.stdout.write(`[\n${tickets.map((entry) => `  ${JSON.stringify(entry)}`).join(',\n')}\n]\n`);
