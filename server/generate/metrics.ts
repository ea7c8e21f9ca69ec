/** docs/metrics.md, generated from the list of metrics. */
import { mostSeries } from '#telemetry/metric.ts'
import { METRICS } from '#telemetry/metric-list.ts'

export function metricsMarkdown(): string {
  const metrics = Object.entries(METRICS)
  const most = metrics.reduce((sum, [, metric]) => sum + mostSeries(metric), 0)
  const rows = metrics.map(([name, { type, labels, help }]) => {
    const shown = labels.length === 0 ? '' : labels.map((label) => `\`${label}\``).join(', ')
    return `| \`${name}\` | ${type} | ${shown} | ${help.replaceAll('|', String.raw`\|`)} |`
  })
  return `# Metrics

Generated from the code by \`npm run generate\`. What to watch, and how to connect Prometheus, is in [monitoring.md](monitoring.md).

A node has at most ${most.toLocaleString('en-US')} series, however many keys, projects and models there are. Keys are no label. A metric
that has as many series as it may counts further models, deployments and projects as \`other\`, and \`torana_metric_full\` names it.

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join('\n')}
`
}
