/** Measures and colours of the traffic picture. */
import { paint, type Colour } from '../../charts/colours.ts'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import type { Mark } from '../../ui/state-mark.tsx'
import type { Look, TrafficNode } from './traffic-graph.ts'

/** How wide the bar of a key or a deployment is. */
export const BAR = 6
const KEY_LABELS = 174
const MODEL_BOX = 208
/** Name, latency and rate of a deployment. */
const DEPLOYMENT_LABELS = 244
/** Ribbons longer on the side where they cross. */
const MODEL_SHARE = 0.56

export interface Columns {
  readonly keyX: number
  readonly modelX: number
  readonly modelEndX: number
  readonly deploymentX: number
  /** Where ribbons leave and where they arrive, by column. */
  readonly from: Readonly<Record<string, number>>
  readonly to: Readonly<Record<string, number>>
}

export function columnsIn(width: number): Columns {
  const keyX = Math.min(KEY_LABELS, width * 0.22)
  const deploymentX = Math.max(keyX, width - Math.min(DEPLOYMENT_LABELS, width * 0.32))
  const free = deploymentX - keyX - BAR
  const box = Math.min(MODEL_BOX, free * 0.5)
  const modelX = keyX + BAR + (free - box) * MODEL_SHARE
  return {
    keyX,
    modelX,
    modelEndX: modelX + box,
    deploymentX,
    from: { key: keyX + BAR, model: modelX + box },
    to: { model: modelX, deployment: deploymentX },
  }
}

export const LOOK_COLOUR: Record<Look, Colour> = {
  embedding: 's1',
  image: 's6',
  cache: 's3',
  failed: 'bad',
  idle: 'off',
}

const MARK_COLOUR: Record<Mark, Colour> = {
  good: 'good',
  warn: 'warn',
  bad: 'bad',
  odd: 'odd',
  off: 'off',
  wait: 's1',
}

export function stateColour({ look, brief }: TrafficNode): string {
  if (look === 'cache') return paint('s3')
  return paint(brief === undefined ? 'off' : MARK_COLOUR[STATE_MARKS[brief.state]])
}
