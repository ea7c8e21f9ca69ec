/** Who uses what in the invented history, and how much of it at which hour. */
import type { Chance } from './chance.ts'

interface Use {
  readonly project: string
  readonly key: string
  readonly model: string
  readonly deployment: string
  /** Requests an hour at the busiest time of a working day. */
  readonly peak: number
  /** Of one request. */
  readonly tokens: number
  readonly nanoUsd: number
  readonly isImage?: boolean
  readonly hitShare?: number
  /** How long a request takes, in milliseconds. */
  readonly usualMs: number
}

const SMALL = 'text-embedding-3-small'
const LARGE = 'text-embedding-3-large'
const BGE = 'BAAI/bge-m3'

export const USES: readonly Use[] = [
  {
    project: 'search',
    key: 'indexer',
    model: SMALL,
    deployment: 'openai',
    peak: 9000,
    tokens: 1900,
    nanoUsd: 38_000,
    usualMs: 110,
  },
  {
    project: 'search',
    key: 'indexer',
    model: SMALL,
    deployment: 'azure-eu',
    peak: 4600,
    tokens: 1900,
    nanoUsd: 38_000,
    usualMs: 130,
  },
  {
    project: 'search',
    key: 'website',
    model: SMALL,
    deployment: 'openai',
    peak: 8200,
    tokens: 30,
    nanoUsd: 600,
    hitShare: 0.62,
    usualMs: 60,
  },
  {
    project: 'search',
    key: 'website',
    model: LARGE,
    deployment: 'openai',
    peak: 1400,
    tokens: 40,
    nanoUsd: 5200,
    usualMs: 150,
  },
  {
    project: 'search',
    key: 'indexer',
    model: BGE,
    deployment: 'gpu-one',
    peak: 5200,
    tokens: 3200,
    nanoUsd: 32_000,
    usualMs: 26,
  },
  {
    project: 'catalog',
    key: 'nightly',
    model: BGE,
    deployment: 'gpu-one',
    peak: 7600,
    tokens: 4800,
    nanoUsd: 48_000,
    usualMs: 28,
  },
  {
    project: 'catalog',
    key: 'nightly',
    model: BGE,
    deployment: 'gpu-two',
    peak: 3500,
    tokens: 4800,
    nanoUsd: 48_000,
    usualMs: 29,
  },
  {
    project: 'catalog',
    key: 'nightly',
    model: BGE,
    deployment: 'siliconflow',
    peak: 700,
    tokens: 4800,
    nanoUsd: 48_000,
    usualMs: 260,
  },
  {
    project: 'research',
    key: 'notebooks',
    model: LARGE,
    deployment: 'openai',
    peak: 900,
    tokens: 400,
    nanoUsd: 52_000,
    usualMs: 170,
  },
  {
    project: 'research',
    key: 'notebooks',
    model: LARGE,
    deployment: 'azure-us',
    peak: 700,
    tokens: 400,
    nanoUsd: 52_000,
    usualMs: 190,
  },
  {
    project: 'ads',
    key: 'website',
    model: SMALL,
    deployment: 'openai',
    peak: 1200,
    tokens: 60,
    nanoUsd: 1200,
    hitShare: 0.3,
    usualMs: 90,
  },
  {
    project: 'ads',
    key: 'website',
    model: 'gpt-image-2',
    deployment: 'openai',
    peak: 4,
    tokens: 0,
    nanoUsd: 53_000_000,
    isImage: true,
    usualMs: 9400,
  },
  {
    project: 'studio',
    key: 'app',
    model: 'gpt-image-2',
    deployment: 'openai',
    peak: 60,
    tokens: 0,
    nanoUsd: 53_000_000,
    isImage: true,
    usualMs: 9400,
  },
  {
    project: 'studio',
    key: 'app',
    model: 'gpt-image-2',
    deployment: 'azure-eu',
    peak: 26,
    tokens: 0,
    nanoUsd: 53_000_000,
    isImage: true,
    usualMs: 11_000,
  },
  {
    project: 'studio',
    key: 'app',
    model: 'flux-2-pro',
    deployment: 'black-forest-labs',
    peak: 40,
    tokens: 0,
    nanoUsd: 30_000_000,
    isImage: true,
    usualMs: 5100,
  },
]

/** Less at night and at weekends, and never twice the same. */
export function busyness(atMs: number, chance: Chance): number {
  const at = new Date(atMs)
  const hour = at.getUTCHours()
  const day = 0.35 + 0.65 * Math.max(0, Math.sin(((hour - 5) / 16) * Math.PI))
  const weekend = at.getUTCDay() % 6 === 0 ? 0.45 : 1
  return day * weekend * (0.8 + chance.share() * 0.4)
}
