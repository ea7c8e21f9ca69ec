import { inLanguage } from '../in-language.ts'
import { plural } from '../plural.ts'

export const modelChange = inLanguage('modelChange', {
  title: (days: number) => `Ending in the next ${days} days`,
  summary: (ending: number, all: number, used: number) =>
    `${ending} of ${plural(all, 'model')}${ending === 0 ? '' : `, ${used} still in use`}`,
  caption: (ending: number, first: string) =>
    ending === 0 ? 'No end dates in this time.' : `${plural(ending, 'end date')}. Next: ${first}`,
  none: (day: string) => `No model you offer ends before ${day}.`,
  checked: (time: string) => `Dates checked ${time}`,
  legend: { sent: 'notified', due: 'to be notified, 90, 30, 14, 7 and 1 days before' },
  view: 'View',
  timeline: 'Timeline',
  today: 'today',
  heads: {
    model: 'Model',
    upstream: 'Upstream',
    ends: 'Ends',
    left: 'Days left',
    source: 'Date from',
    successor: 'Successor',
    usedBy: 'Still used by',
    notices: 'Notified, days',
    requests: 'Requests, 30 d',
  },
  left: (days: number) => (days > 0 ? plural(days, 'day') : days === 0 ? 'today' : 'ended'),
  hint: {
    sent: (days: string) => `Notified ${days} days before.`,
    notSent: 'Not notified yet.',
    next: (day: string) => `Next notice: ${day}.`,
    source: (source: string) => `Date from ${source}.`,
  },
  unused: 'no key',
  keys: (keys: number) => plural(keys, 'key'),
  andMore: (keys: number) => `and ${keys} more`,
  more: (rows: number) => `${rows} more`,
  fewer: 'Show fewer',
  sources: {
    upstream: (day: string) => `upstream, ${day}`,
    catalog: (day: string) => `catalog, ${day}`,
  },
  old: 'old',
  oldHint: (days: number) => `This date was read ${plural(days, 'day')} ago. It may have changed.`,
  lookUp: 'look it up',
  later: 'Known dates after that',
  undated: (models: number) => `No end date is announced for ${plural(models, 'model')}.`,
  oldDates: (dates: number) =>
    dates === 1 ? '1 date is older than 120 days.' : `${dates} dates are older than 120 days.`,
  viewOld: 'View dates',
  describe: (name: string, end: string, users: string, hint: string) =>
    `${name} ends ${end}, used by ${users}. ${hint}`,
})
