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
  /** How long a request takes, in milliseconds. */
  readonly usualMs: number
  readonly hitShare: number
  readonly isImage: boolean
}

/** The columns are the fields; an image has no tokens. */
const TABLE = `
  project   key        model                   deployment         peak  tokens  nanoUsd   usualMs  hitShare
  search    indexer    text-embedding-3-small  openai             9000  1900    38000     110      0
  search    indexer    text-embedding-3-small  azure-eu           4600  1900    38000     130      0
  search    website    text-embedding-3-small  openai             8200  30      600       60       0.62
  search    website    text-embedding-3-large  openai             1400  40      5200      150      0
  search    indexer    BAAI/bge-m3             gpu-one            5200  3200    32000     26       0
  catalog   nightly    BAAI/bge-m3             gpu-one            7600  4800    48000     28       0
  catalog   nightly    BAAI/bge-m3             gpu-two            3500  4800    48000     29       0
  catalog   nightly    BAAI/bge-m3             siliconflow        700   4800    48000     260      0
  research  notebooks  text-embedding-3-large  openai             900   400     52000     170      0
  research  notebooks  text-embedding-3-large  azure-us           700   400     52000     190      0
  ads       website    text-embedding-3-small  openai             1200  60      1200      90       0.3
  ads       website    gpt-image-2             openai             4     0       53000000  9400     0
  studio    app        gpt-image-2             openai             60    0       53000000  9400     0
  studio    app        gpt-image-2             azure-eu           26    0       53000000  11000    0
  studio    app        flux-2-pro              black-forest-labs  40    0       30000000  5100     0
`

export const USES: readonly Use[] = TABLE.trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [project = '', key = '', model = '', deployment = '', ...numbers] = line.trim().split(/ +/)
    const [peak = 0, tokens = 0, nanoUsd = 0, usualMs = 0, hitShare = 0] = numbers.map(Number)
    const isImage = tokens === 0
    return { project, key, model, deployment, peak, tokens, nanoUsd, usualMs, hitShare, isImage }
  })

/** Less at night and at weekends, and never twice the same. */
export function busyness(atMs: number, chance: Chance): number {
  const at = new Date(atMs)
  const hour = at.getUTCHours()
  const day = 0.35 + 0.65 * Math.max(0, Math.sin(((hour - 5) / 16) * Math.PI))
  const weekend = at.getUTCDay() % 6 === 0 ? 0.45 : 1
  return day * weekend * (0.8 + chance.share() * 0.4)
}
