import { money } from '../../app/format.ts'
import { inLanguage } from '../in-language.ts'
import { plural } from '../plural.ts'

export const overview = inLanguage('overview', {
  traffic: 'Traffic',
  rate: (perSecond: string, reporting: number, alive: number) =>
    `${perSecond} requests per second · ${reporting} of ${plural(alive, 'node')}`,
  pause: 'Pause',
  resume: 'Resume',
  paused: (time: string) => `Paused at ${time}`,
  metrics: { label: 'Show', requests: 'Requests', tokens: 'Tokens', images: 'Images', usd: 'Cost' },
  heads: {
    key: 'Key',
    model: 'Model',
    deployment: 'Deployment',
    requests: 'Req/s',
    share: 'Share',
    failed: 'Failed',
    p95: 'p95',
    tokens: 'Tokens/s',
    images: 'Images/s',
    usd: '$/h',
  },
  picture: {
    label: 'Traffic from keys through models to deployments',
    view: 'View',
    asPicture: 'Chart',
    asTable: 'Table',
    keys: 'keys',
    models: 'models',
    deployments: 'deployments',
    units: { requests: 'per second', tokens: 'per second', images: 'per second', usd: 'per hour' },
    others: (n: number) => plural(n, 'other'),
  },
  cache: 'vector cache',
  quiet: 'No traffic right now.',
  quietText: 'Traffic from the last 10 seconds appears here.',
  waiting: 'Waiting for the first request…',
  waitingText: 'Send one with your key:',
  attention: 'Needs attention',
  nothing: 'Nothing needs attention.',
  alert: 'Alert on this',
  alertOn: (what: string) => `Alert on this: ${what}`,
  nMore: (n: number) => `${n} more`,
  requests: 'Requests',
  aMinute: 'per minute',
  answeredShare: (share: string) => `${share} answered`,
  latency: 'Latency',
  p95: 'p95',
  adds: (own: string) => `Torana adds ${own}`,
  spent: 'Spent today',
  heading: (forecast: string, pace: string) => `forecast ${forecast}, pace ${pace}`,
  headingAlone: (forecast: string) => `forecast ${forecast}`,
  cacheTitle: 'Cache',
  saved: (usd: string) => `saved ${usd} today`,
  noCache: 'no model uses a cache',
  legend: {
    answered: 'answered',
    refused: 'refused',
    limited: 'limited',
    failed: 'failed',
    unknown: 'unknown',
    spent: 'spent',
    pace: 'budget pace',
    forecast: 'forecast',
    hits: 'served from cache',
  },
  captions: {
    requests: (n: string, failed: string) => `${n} requests, ${failed} failed`,
    latency: (p95: string) => `p95 ${p95}`,
    spent: (usd: string) => `${usd} spent in this time range`,
    cache: (share: string) => `${share} of inputs served from cache`,
  },
  items: {
    deployment_ejected: {
      title: (name: string) => `${name} is ejected`,
      text: (f: Figures) =>
        `${f['model']}: ${f['failed']} of ${f['calls']} calls failed${reason(f)}. ${takingOver(f)}`,
      link: 'Open',
    },
    deployment_rejected_us: {
      title: (name: string) => `${name} rejects our credentials`,
      text: (f: Figures) => `${f['model']}: invalid credential or exhausted quota${reason(f)}.`,
      link: 'Open',
    },
    space_left: {
      title: (name: string) => `${name} failed the space check`,
      text: (f: Figures) => `${f['model']}: minimum cosine ${cosineText(f)}. It receives no traffic.`,
      link: 'See drift',
    },
    space_warned: {
      title: (name: string) => `${name} is drifting`,
      text: (f: Figures) => `${f['model']}: minimum cosine ${cosineText(f)}. Still serving.`,
      link: 'Open',
    },
    usage_above_expected: {
      title: (name: string) => `${name} reports more usage than expected`,
      text: (f: Figures) =>
        Number(f['cut']) > 0
          ? `${f['model']}: ${plural(Number(f['calls']), 'call')}. ${f['cut']} reported impossible usage and were charged in part.`
          : `${f['model']}: ${plural(Number(f['calls']), 'call')} above the model’s known maximum, charged in full.`,
      link: 'Open',
    },
    unknowns_open: {
      title: (_: string, f: Figures) => plural(Number(f['open']), 'unknown outcome'),
      text: (f: Figures) => `${dollars(f['usd'])} counts as spent. First auto-posts in ${f['posts_in']}.`,
      link: 'Resolve',
    },
    budget_mark: {
      title: (name: string, f: Figures) => `Budget ${name} at ${f['percent']}%`,
      text: (f: Figures) => `${dollars(f['spent_usd'])} of ${dollars(f['limit_usd'])} (hard limit).`,
      link: 'Budget',
    },
    budget_used_up: {
      title: (name: string) => `Budget ${name} is used up`,
      text: (f: Figures) =>
        `${dollars(f['spent_usd'])} of ${dollars(f['limit_usd'])} (hard limit). Requests are refused.`,
      link: 'Budget',
    },
    deployment_unpriced: {
      title: (name: string) => `${name} has no price`,
      text: (f: Figures) =>
        `${f['model']}: skipped for ${plural(Number(f['keys']), 'key')} with a hard budget. Set a price.`,
      link: 'Set price',
    },
    unpriced_refused: {
      title: (name: string) => `No price for ${name}`,
      text: (f: Figures) => `${plural(Number(f['requests']), 'request')} refused under hard budgets today.`,
      link: 'Set price',
    },
    model_retired_used: {
      title: (name: string) => `${name === '' ? 'A retired model' : name} is still in use`,
      text: (f: Figures) => `${plural(Number(f['requests']), 'request')} today, from ${f['projects']}.`,
      link: 'Requests',
    },
    model_ends: {
      title: (_: string, f: Figures) =>
        Number(f['days']) > 0
          ? `${f['model']} retires in ${plural(Number(f['days']), 'day')}`
          : `${f['model']} is retired`,
      text: (f: Figures) =>
        [
          `${f['upstream']}, on ${f['on']}.`,
          ...(f['successor'] === '' ? [] : [`Successor: ${f['successor']}.`]),
          ...(f['goes_on'] === '' ? [] : [`${f['goes_on']} keeps serving it.`]),
          usedBy(f),
        ].join(' '),
      link: 'Model',
    },
    key_idle: {
      title: () => 'Unused key',
      text: (f: Figures, name: string) =>
        `${name}: last used ${f['age']} ago${f['ends_at'] === undefined ? ', never expires' : ''}.`,
      link: 'Key',
    },
    key_ends: {
      title: () => 'Key expiring soon',
      text: (f: Figures, name: string) => `${name} expires in ${f['in']}.`,
      link: 'Key',
    },
    node_silent: {
      title: (_: string, f: Figures) => `${f['host']} isn’t reporting`,
      text: (f: Figures) => `Last seen ${f['age']} ago. It holds ${dollars(f['leased_usd'])} of budgets.`,
      link: 'Nodes',
    },
    spool_waiting: {
      title: () => 'Records queued on disk',
      text: (f: Figures) => `${plural(Number(f['waiting']), 'record')} waiting for PostgreSQL.`,
      link: 'Nodes',
    },
    store_away: {
      title: () => 'PostgreSQL is unreachable',
      text: (f: Figures) =>
        `Traffic is unaffected. ${plural(Number(f['waiting']), 'record')} queued on disk.`,
      link: 'Nodes',
    },
    doctor_wrong: { title: () => 'Ledger check failed', text: () => 'Run diagnostics.', link: 'Diagnostics' },
    webhook_given_up: {
      title: (name: string) => `Webhooks of ${name} are failing`,
      text: (f: Figures) => `${plural(Number(f['events']), 'event')} undelivered this week.`,
      link: 'Project',
    },
    partition_missing: {
      title: () => 'A partition is missing',
      text: (f: Figures) => `${plural(Number(f['rows']), 'row')} in the default partition.`,
      link: 'Diagnostics',
    },
    ledger_stalled: {
      title: () => 'The ledger is stalled',
      text: (f: Figures) => `No hour ${f['step']} for ${f['hours']} h.`,
      link: 'Diagnostics',
    },
    labels_overflowed: {
      title: (name: string) => `Too many users or tags in ${name}`,
      text: (f: Figures) =>
        `Above the limit (${f['labels']}): ${dollars(f['usd'])} of the last day counts as (other).`,
      link: 'Usage',
    },
  },
})

type Figures = Readonly<Record<string, string | number | undefined>>

function usedBy({ keys, more_keys: more }: Figures): string {
  if (keys === undefined) return ''
  if (keys === '') return 'Not used by any key in 30 days.'
  return `Used in the last 30 days by ${keys}${Number(more) > 0 ? ` and ${plural(Number(more), 'other key')}` : ''}.`
}

function reason(figures: Figures): string {
  return figures['reason'] === '' || figures['reason'] === undefined ? '' : `, ${figures['reason']}`
}

function cosineText(figures: Figures): string {
  const cosine = Number(figures['least_cosine']).toFixed(4).replace('-', '−')
  return figures['least_of'] === 'images' ? `${cosine} of images` : cosine
}

function dollars(usd: string | number | undefined): string {
  return money(typeof usd === 'number' ? usd.toFixed(9) : usd)
}

function takingOver({ stands_in: other, skipping_keys: keys = 0 }: Figures): string {
  if (other === '') return 'No deployment is taking its traffic.'
  if (keys === 0) return `${other} is taking its traffic.`
  return `${other} is taking its traffic, but not that of ${plural(Number(keys), 'key')} with a hard budget.`
}
