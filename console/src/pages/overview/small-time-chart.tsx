/** Lines over the range, small: the ribbons are looked at first, so their library comes beside them, not before them. */
import type { ComponentProps } from 'react'
import { lazyPart } from '../../app/lazy-part.tsx'

export const HEIGHT = 158

const loading = import('../../charts/time-chart.tsx')
const TimeChart = lazyPart(
  async () => (await loading).TimeChart,
  <div className="appearing-late rounded-control bg-sunken" style={{ height: HEIGHT }} />,
)

type SmallTimeChartProps = Omit<ComponentProps<typeof TimeChart>, 'height'>

export function SmallTimeChart(props: SmallTimeChartProps) {
  return <TimeChart {...props} height={HEIGHT} />
}
