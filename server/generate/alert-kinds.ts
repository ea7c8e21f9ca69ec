/** The table of kinds in docs/alerts.md. */
import { ALERT_KINDS, fieldInFile, KIND_TABLE, type AlertKind } from '#core/alerts/kind.ts'
import { withPart } from './part.ts'

export function withAlertKinds(page: string): string {
  const head = ['| kind | default condition | reported for |', '|---|---|---|']
  return withPart(page, 'alert-kinds', [...head, ...ALERT_KINDS.map(rowOf)].join('\n'))
}

function rowOf(kind: AlertKind): string {
  const { fields, long, subject } = KIND_TABLE[kind]
  const condition = long.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const initial = fields[field]?.initial
    if (initial === undefined) throw new Error(`A condition of ${kind} has no ${field}`)
    return `\`${fieldInFile(field)}: ${typeof initial === 'number' ? initial : `[${initial.join(', ')}]`}\``
  })
  return `| \`${kind}\` | ${condition} | ${subject} |`
}
