import { inLanguage } from '../in-language.ts'
import { plural } from '../plural.ts'

export const prices = inLanguage('prices', {
  title: 'Prices',
  text: 'What each deployment costs. New prices apply from now on; past ledger entries don’t change.',
  columns: {
    deployment: 'Deployment',
    price: 'Price',
    from: 'Source',
    unpriced: 'Unpriced calls, 30 days',
    action: '',
  },
  units: {
    'million tokens': 'per 1M tokens',
    'million input tokens': 'per 1M input tokens',
    'million output tokens': 'per 1M output tokens',
    image: 'per image',
    megapixel: 'per megapixel',
    free: 'free',
    unpriced: 'unpriced',
  },
  from: {
    configuration: 'torana.yaml',
    store: (by: string, day: string) => `${by}, ${day}`,
    catalog: (day: string) => `catalog, as of ${day}`,
    builtIn: 'catalog',
    none: 'not set',
  },
  calls: (n: number) => plural(n, 'call'),
  set: 'Set',
  change: 'Edit',
  inFile: (at: string) => `Defined in ${at}. Change it there.`,
  forbidden: 'Requires the Admin role.',
  empty: 'No deployments.',
  sheet: {
    title: (deployment: string) => `Price of ${deployment}`,
    way: 'Billing unit',
    ways: { tokens: 'per token', image: 'per image', megapixel: 'per megapixel', free: 'free' },
    usd: {
      tokens: '$ per 1M tokens',
      image: '$ per image',
      megapixel: '$ per megapixel',
    },
    table: 'Set prices by size, quality or token type in torana.yaml.',
    save: 'Set price',
    forget: 'Remove override',
    effect: (then: string, now: string) => `The last 30 days would have cost ${now} instead of ${then}.`,
    saved: (deployment: string) => `Price of ${deployment} saved. It takes effect within 2 seconds.`,
    forgotten: (deployment: string) => `Price override of ${deployment} removed.`,
  },
})
