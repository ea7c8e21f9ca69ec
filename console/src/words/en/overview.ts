import { money } from '../../app/format.ts'
import { plural } from '../plural.ts'

export const overview = {
  title: 'Overview',
  traffic: 'Traffic',
  rate: (perSecond: string, reporting: number, alive: number) =>
    `${perSecond} requests a second · ${reporting} of ${alive} ${alive === 1 ? 'node' : 'nodes'}`,
  pause: 'Pause',
  resume: 'Go on',
  paused: (time: string) => `Paused at ${time}`,
  metrics: { label: 'Show', requests: 'Requests', tokens: 'Tokens', images: 'Pictures', usd: 'Dollars' },
  heads: {
    key: 'Key',
    model: 'Model',
    deployment: 'Deployment',
    requests: 'A second',
    share: 'Share',
    failed: 'Failed',
    p95: 'p95',
    tokens: 'Tokens / s',
    images: 'Pictures / s',
    usd: 'Dollars / h',
  },
  picture: {
    label: 'Traffic from keys through models to deployments',
    view: 'View',
    asPicture: 'Picture',
    asTable: 'Table',
    keys: 'keys',
    models: 'models',
    deployments: 'deployments',
    units: { requests: 'a second', tokens: 'a second', images: 'a second', usd: 'an hour' },
    others: (n: number) => plural(n, 'other'),
  },
  cache: 'vector cache',
  quiet: 'No traffic now.',
  quietText: 'Flows of the last ten seconds stand here as soon as there are any.',
  waiting: 'Waiting for the first request…',
  waitingText: 'Send one with a key of yours:',
  attention: 'Needs attention',
  nothing: 'Nothing needs you.',
  nMore: (n: number) => `${n} more`,
  requests: 'Requests',
  aMinute: 'a minute',
  answeredShare: (share: string) => `${share} answered`,
  latency: 'Latency',
  p95: 'p95',
  adds: (own: string) => `Torana adds ${own}`,
  spent: 'Spent today',
  heading: (forecast: string, pace: string) => `heading for ${forecast} of ${pace}`,
  headingAlone: (forecast: string) => `heading for ${forecast}`,
  cacheTitle: 'Cache',
  saved: (usd: string) => `saved ${usd} today`,
  noCache: 'no model has a cache in use',
  legend: {
    answered: 'answered',
    refused: 'refused',
    limited: 'limited',
    failed: 'failed',
    unknown: 'unknown',
    spent: 'spent',
    pace: 'pace of budgets',
    forecast: 'forecast',
    hits: 'inputs that needed no call',
  },
  captions: {
    requests: (n: string, failed: string) => `${n} requests, ${failed} of them failed`,
    latency: (p95: string) => `p95 ${p95}`,
    spent: (usd: string) => `${usd} spent in this time`,
    cache: (share: string) => `${share} of inputs needed no call`,
  },
  items: {
    deployment_ejected: {
      title: (name: string) => `${name} is ejected`,
      text: (f: Figures) =>
        `${f['model']}: ${f['failed']} of ${f['calls']} calls failed${reason(f)}. ${f['stands_in'] === '' ? 'Nobody stands in.' : `${f['stands_in']} stands in.`}`,
      link: 'Open',
    },
    deployment_rejected_us: {
      title: (name: string) => `${name} refuses us`,
      text: (f: Figures) => `${f['model']}: the credential or the quota was refused${reason(f)}.`,
      link: 'Open',
    },
    space_left: {
      title: (name: string) => `${name} left its space`,
      text: (f: Figures) => `${f['model']}: least cosine ${cosineText(f)}. Nothing of it leaves.`,
      link: 'See drift',
    },
    space_warned: {
      title: (name: string) => `${name} is near its edge`,
      text: (f: Figures) => `${f['model']}: least cosine ${cosineText(f)}. It goes on serving.`,
      link: 'Open',
    },
    usage_above_expected: {
      title: (name: string) => `${name} counts more than expected`,
      text: (f: Figures) =>
        Number(f['cut']) > 0
          ? `${f['model']}: ${plural(Number(f['calls']), 'call')}. ${f['cut']} counted what cannot be and were charged in part.`
          : `${f['model']}: ${plural(Number(f['calls']), 'call')} above the most that its facts say, charged in full.`,
      link: 'Open',
    },
    unknowns_open: {
      title: (_: string, f: Figures) => plural(Number(f['open']), 'unknown outcome'),
      text: (f: Figures) =>
        `${dollars(f['usd'])} counts as spent. The first posts itself in ${f['posts_in']}.`,
      link: 'Resolve',
    },
    budget_mark: {
      title: (name: string, f: Figures) => `Budget ${name} at ${f['percent']} %`,
      text: (f: Figures) => `${dollars(f['spent_usd'])} of ${dollars(f['limit_usd'])}, hard.`,
      link: 'Budget',
    },
    budget_used_up: {
      title: (name: string) => `Budget ${name} is used up`,
      text: (f: Figures) =>
        `${dollars(f['spent_usd'])} of ${dollars(f['limit_usd'])}, hard. Requests are refused.`,
      link: 'Budget',
    },
    unpriced_refused: {
      title: (name: string) => `No price for ${name}`,
      text: (f: Figures) => `${plural(Number(f['requests']), 'request')} refused under hard budgets today.`,
      link: 'Set price',
    },
    model_retired_used: {
      title: (name: string) => `${name === '' ? 'A retired model' : name} is still asked for`,
      text: (f: Figures) =>
        `${plural(Number(f['requests']), 'request')} for a retired model today, by ${f['projects']}.`,
      link: 'Requests',
    },
    model_ends: {
      title: (_: string, f: Figures) =>
        Number(f['days']) > 0
          ? `${f['model']} ends in ${plural(Number(f['days']), 'day')}`
          : `${f['model']} has ended`,
      text: (f: Figures) =>
        [
          `${f['upstream']}, on ${f['on']}.`,
          ...(f['successor'] === '' ? [] : [`Successor: ${f['successor']}.`]),
          ...(f['goes_on'] === '' ? [] : [`${f['goes_on']} goes on.`]),
          usedBy(f),
        ].join(' '),
      link: 'Model',
    },
    key_idle: {
      title: () => 'A key nobody uses',
      text: (f: Figures, name: string) =>
        `${name}: last used ${f['age']} ago${f['ends_at'] === undefined ? ', never expires' : ''}.`,
      link: 'Key',
    },
    key_ends: {
      title: () => 'A key ends soon',
      text: (f: Figures, name: string) => `${name} ends in ${f['in']}.`,
      link: 'Key',
    },
    node_silent: {
      title: (_: string, f: Figures) => `${f['host']} is silent`,
      text: (f: Figures) => `Not seen for ${f['age']}. It holds ${dollars(f['leased_usd'])} of budgets.`,
      link: 'Nodes',
    },
    spool_waiting: {
      title: () => 'Records wait on disk',
      text: (f: Figures) => `${plural(Number(f['waiting']), 'record')} wait for PostgreSQL.`,
      link: 'Nodes',
    },
    store_away: {
      title: () => 'PostgreSQL is away',
      text: (f: Figures) => `Traffic goes on. ${plural(Number(f['waiting']), 'record')} wait on disk.`,
      link: 'Nodes',
    },
    doctor_wrong: { title: () => 'The books disagree', text: () => 'Run the doctor.', link: 'Doctor' },
    webhook_given_up: {
      title: (name: string) => `Webhooks of ${name} fail`,
      text: (f: Figures) => `${plural(Number(f['events']), 'event')} were given up this week.`,
      link: 'Project',
    },
    partition_missing: {
      title: () => 'A partition is missing',
      text: (f: Figures) => `${plural(Number(f['rows']), 'row')} lie in the partition for the rest.`,
      link: 'Doctor',
    },
    labels_overflowed: {
      title: (name: string) => `Too many users or tags in ${name}`,
      text: (f: Figures) =>
        `More than are counted apart (${f['labels']}): ${dollars(f['usd'])} of the last day is counted as other.`,
      link: 'Usage',
    },
  },
}

type Figures = Readonly<Record<string, string | number | undefined>>

function usedBy({ keys, more_keys: more }: Figures): string {
  if (keys === undefined) return ''
  if (keys === '') return 'No key used it within 30 days.'
  return `Used within 30 days by ${keys}${Number(more) > 0 ? ` and ${plural(Number(more), 'other key')}` : ''}.`
}

function reason(figures: Figures): string {
  return figures['reason'] === '' || figures['reason'] === undefined ? '' : `, ${figures['reason']}`
}

function cosineText(figures: Figures): string {
  return Number(figures['least_cosine']).toFixed(4).replace('-', '−')
}

function dollars(usd: string | number | undefined): string {
  return money(typeof usd === 'number' ? usd.toFixed(9) : usd)
}
