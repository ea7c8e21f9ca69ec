import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { METRICS } from '#telemetry/metric-list.ts'
import { DASHBOARDS } from '../../../lab/monitoring/dashboards.ts'

const ROOT = join(import.meta.dirname, '../../..')
const { groups } = parse(readFileSync(join(ROOT, 'deploy/monitoring/alerts.yaml'), 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: 'critical' | 'warning' }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}

/** Names of metrics in a query, without the suffixes that Prometheus adds to a histogram. */
function metricsIn(query: string): string[] {
  return [...query.matchAll(/\btorana_\w+/g)].map(([name]) =>
    name in METRICS ? name : name.replace(/_(?:bucket|sum|count)$/, ''),
  )
}

/** `by (model)`, `{state="x"}`: labels that a query names. */
function labelsIn(query: string): string[] {
  const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/))
  const matched = [...query.matchAll(/(\w+)(?:=~|!=|!~|=)"/g)].map(([, name = '']) => name)
  return [...grouped, ...matched]
}

/** Of Prometheus itself. */
const OUTSIDE = new Set(['le', 'instance', 'job'])

test('dashboards and alerts ask for metrics and labels that a node has', () => {
  const queries = [
    ...DASHBOARDS.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries.map(({ expr }) => expr))),
    ...rules.map(({ expr }) => expr),
  ]
  for (const query of queries) {
    const names = metricsIn(query)
    const known = names.map((name) => METRICS[name as keyof typeof METRICS])
    assert.ok(known.every(Boolean), query)
    const labels = new Set([...OUTSIDE, ...known.flatMap((metric) => metric.labels)])
    for (const label of labelsIn(query)) assert.ok(labels.has(label), `${label} in ${query}`)
  }
})

test('each alert has its section on the page for those on call, its link, its test, and its urgency', () => {
  const page = readFileSync(join(ROOT, 'docs/on-call.md'), 'utf8')
  const tests = readFileSync(join(ROOT, 'deploy/monitoring/alerts.test.yaml'), 'utf8')
  const sections = page.split(/^(?=## )/m).filter((section) => section.includes('\nAlert `'))
  const found = sections.map((section) => {
    const [, alert = '', urgency = ''] = /\nAlert `(\w+)` · (.+)\n/.exec(section) ?? []
    return [alert, urgency] as const
  })
  const urgencyOf = ({ labels }: Rule): string =>
    labels.severity === 'critical' ? 'page now' : 'next working day'
  assert.equal(found.length, rules.length)
  assert.deepEqual(new Map(found), new Map(rules.map((rule) => [rule.alert, urgencyOf(rule)])))
  // The worst first.
  assert.ok(found.findLastIndex(([, urgency]) => urgency === 'page now') < sections.length / 2)
  for (const { alert, annotations } of rules) {
    const anchor = alert.toLowerCase()
    assert.ok(annotations.runbook_url.endsWith(`/docs/on-call.md#${anchor}`), alert)
    assert.match(page, new RegExp(`<a id="${anchor}"></a>\\n\\n## .+\\n\\nAlert \`${alert}\``), alert)
    assert.ok(tests.includes(`alertname="${alert}"`), alert)
    const section = sections.find((one) => one.includes(`Alert \`${alert}\``)) ?? ''
    for (const part of ['**Impact**: ', '**Check**\n', '**Fix**: ', '**It is over when** ', '```sh\n'])
      assert.ok(section.includes(part), `${alert}: ${part}`)
  }
})
