/** The rows of the ledger for one request, as they stand there. */
import type { RequestDetail } from '../../api/queries/requests.ts'
import { dayWithYear, clockExact, moneyExact, NONE, shortId, whole } from '../../app/format.ts'
import { CopyIconButton } from '../../ui/copy.tsx'
import { words } from '../../words/words.ts'

type LedgerRow = RequestDetail['ledger'][number]

export function LedgerTable({ rows }: { readonly rows: readonly LedgerRow[] }) {
  const text = words.requests.ledger
  if (rows.length === 0) return <p className="py-3 text-ink-2">{text.empty}</p>
  return (
    <div className="overflow-x-auto">
      <table className="w-full border-collapse whitespace-nowrap [&_:is(td,th)+:is(td,th)]:pl-3">
        <thead>
          <tr className="h-8 border-b border-line text-12 text-ink-2 [&>th]:font-medium">
            <th className="text-left">{text.kind}</th>
            <th className="text-right">{text.amount}</th>
            <th className="text-left">{text.call}</th>
            <th className="text-left">{text.deployment}</th>
            <th className="text-right">{text.tokens}</th>
            <th className="text-right">{text.images}</th>
            <th className="text-right">{text.when}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.attempt} ${row.kind}`} className="h-8 border-b border-line">
              <td>{words.requests.money.kinds[row.kind]}</td>
              <td className="text-right tabular-nums">
                {row.amount_usd === null ? words.ui.unpriced : moneyExact(row.amount_usd)}
              </td>
              <td>
                <span className="inline-flex items-center gap-1">
                  <span className="mono-12">{shortId(row.call_id)}</span>
                  <CopyIconButton text={row.call_id} />
                </span>
              </td>
              <td className="text-ink-2">{row.deployment}</td>
              <td className="text-right tabular-nums">{row.tokens === null ? NONE : whole(row.tokens)}</td>
              <td className="text-right tabular-nums">{row.images === 0 ? NONE : whole(row.images)}</td>
              <td className="text-right tabular-nums text-ink-2">
                <time dateTime={row.at} title={row.at}>
                  {dayWithYear(row.at)} {clockExact(row.at)}
                </time>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
