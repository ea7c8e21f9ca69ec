/** What came in beside what went out, field by field, with the reason of each difference. */
import type { RequestDetail } from '../../api/queries/requests.ts'
import { words } from '../../words/words.ts'

export function WireTab({ request }: { readonly request: RequestDetail }) {
  const { in: given, out: sent, differences } = request.wire
  const text = words.requests.wire
  const names = [
    ...new Set([...Object.keys(given), ...Object.keys(sent), ...differences.map(({ field }) => field)]),
  ]
  return (
    <div className="flex flex-col gap-3 py-3">
      {differences.length === 0 && <p>{text.same}</p>}
      <table className="w-full border-collapse">
        <thead>
          <tr className="h-8 border-b border-line text-12 text-ink-2 [&>th]:text-left [&>th]:font-medium">
            <th className="w-44">{text.field}</th>
            <th className="w-52">{text.in}</th>
            <th className="w-52">{text.out}</th>
            <th>{text.why}</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name) => {
            const difference = differences.find(({ field }) => field === name)
            return (
              <tr key={name} className="h-8 border-b border-line">
                <td className="mono-12">{name}</td>
                <td className="mono-12 text-ink-2">{valueText(given[name])}</td>
                <td className="mono-12 text-ink-2">{valueText(sent[name])}</td>
                <td className="text-12 text-ink-2">
                  {difference === undefined ? '' : `${text.hows[difference.how]}: ${difference.note}`}
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
      <p className="text-12 text-ink-3">{text.note}</p>
    </div>
  )
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return words.requests.wire.none
  return typeof value === 'string' ? value : JSON.stringify(value)
}
