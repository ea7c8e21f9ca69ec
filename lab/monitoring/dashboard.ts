/**
 * Grafana's dashboards as plain objects: three kinds of panels and one variable. Grafana's own SDK describes a thousand types that
 * change with its versions; this form has been read by every Grafana since version 9.
 */

type Unit = 'reqps' | 's' | 'percentunit' | 'short' | 'currencyUSD' | 'bytes' | 'ops' | 'dateTimeAsIso'

interface Query {
  readonly expr: string
  /** `{{model}}` stands for the label. */
  readonly legend: string
}

interface Panel {
  readonly title: string
  readonly kind: 'timeseries' | 'stat' | 'table'
  readonly unit: Unit
  readonly queries: readonly Query[]
  readonly description?: string
}

export interface Dashboard {
  /** Also the name of its file. */
  readonly uid: string
  readonly title: string
  readonly panels: readonly Panel[]
}

const COLUMNS = 24
const WIDTH = 8
const HEIGHT = 8
/** Grafana asks for a Prometheus by this variable when the dashboard is imported. */
const DATASOURCE = { type: 'prometheus', uid: '${datasource}' }

export function dashboardJson({ uid, title, panels }: Dashboard): string {
  const perRow = COLUMNS / WIDTH
  const dashboard = {
    uid,
    title,
    tags: ['torana'],
    timezone: 'browser',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' }],
    },
    panels: panels.map((panel, index) => ({
      id: index + 1,
      title: panel.title,
      type: panel.kind,
      ...(panel.description !== undefined && { description: panel.description }),
      datasource: DATASOURCE,
      gridPos: {
        x: (index % perRow) * WIDTH,
        y: Math.floor(index / perRow) * HEIGHT,
        w: WIDTH,
        h: HEIGHT,
      },
      fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
      targets: panel.queries.map(({ expr, legend }, at) => ({
        refId: String.fromCodePoint('A'.codePointAt(0)! + at),
        datasource: DATASOURCE,
        expr,
        legendFormat: legend,
        ...(panel.kind === 'timeseries' ? { range: true } : { instant: true }),
        ...(panel.kind === 'table' && { format: 'table' }),
      })),
    })),
  }
  return `${JSON.stringify(dashboard, undefined, 2)}\n`
}
