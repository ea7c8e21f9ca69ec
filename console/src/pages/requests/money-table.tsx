/** Money, line by line: whole on the page, short in the peek. */
import type { RequestDetail } from '../../api/queries/requests.ts'
import { classes } from '../../ui/classes.ts'
import { words } from '../../words/words.ts'
import { moneyRows, moneySum } from './money-lines.ts'

const LINE = 'border-b border-line'
const NUMBER = 'text-right whitespace-nowrap tabular-nums'

export function MoneyTable({ request }: { readonly request: RequestDetail }) {
  const rows = moneyRows(request)
  const sum = moneySum(request)
  const hasStatus = rows.some(({ status }) => status !== undefined)
  const text = words.requests.money
  return (
    <section className="overflow-x-auto">
      <header className="flex items-center pb-1">
        <h2 className="text-13 font-semibold">{text.title}</h2>
        <span className="ml-auto text-12 text-ink-2">{text.rounding}</span>
      </header>
      {rows.length === 0 ? (
        <p className="py-2 text-ink-2">{text.none}</p>
      ) : (
        <table className="w-full border-collapse phone:min-w-150 [&_:is(td,th)+:is(td,th)]:pl-3">
          <thead>
            <tr className={classes(LINE, 'h-8 text-12 font-medium text-ink-2 [&>th]:font-medium')}>
              <th className="text-left">{text.for}</th>
              {hasStatus && <th className="text-left">{text.status}</th>}
              <th className="text-right">{text.counted}</th>
              <th className="text-right">{text.price}</th>
              <th className="text-left">{text.ledger}</th>
              <th className="text-right">{text.amount}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.key} className={classes(LINE, 'h-8')}>
                <td>{row.name}</td>
                {hasStatus && <td className="text-warn">{row.status}</td>}
                <td className={classes(NUMBER, 'text-ink-2')}>{row.counted}</td>
                <td className={classes(NUMBER, 'text-ink-2')}>{row.price}</td>
                <td className="py-1.5 text-12 text-ink-2">
                  {row.ledger}
                  {row.saved !== undefined && <span className="text-good">; {row.saved}</span>}
                </td>
                <td className={classes(NUMBER, row.quiet && 'text-ink-2')}>{row.amount ?? '$0.000000000'}</td>
              </tr>
            ))}
            <tr className="h-8 font-semibold">
              <td>{text.total}</td>
              {hasStatus && <td />}
              <td className={NUMBER}>{sum.counted}</td>
              <td />
              <td className="py-1.5 text-12 font-normal text-ink-2">
                {sum.wrong === undefined ? sum.givenBack : <span className="text-bad">{sum.wrong}</span>}
              </td>
              <td className={NUMBER}>{sum.posted}</td>
            </tr>
          </tbody>
        </table>
      )}
    </section>
  )
}

export function SmallMoneyTable({ request }: { readonly request: RequestDetail }) {
  const rows = moneyRows(request)
  const sum = moneySum(request)
  const text = words.requests.money
  return (
    <section>
      <header className="flex items-center pb-0.5">
        <h3 className="text-13 font-semibold">{text.short}</h3>
        <span className="ml-auto text-12 text-ink-2 phone:hidden">{text.rounding}</span>
      </header>
      {rows.length === 0 ? (
        <p className="py-1 text-12 text-ink-2">{text.none}</p>
      ) : (
        <table className="w-full border-collapse text-12">
          <tbody>
            {rows.map((row) => (
              <tr key={row.key} className={classes(LINE, 'h-[26px]')}>
                <td className="max-w-24 truncate">{row.shortName}</td>
                <td className={classes(NUMBER, row.quiet && 'text-ink-2')}>{row.status ?? row.counted}</td>
                <td className={classes(NUMBER, 'pl-2 text-ink-2 phone:hidden')}>
                  {row.saved ?? (row.price === '' || row.price === '–' ? '' : `${row.price} / M`)}
                </td>
                <td className={classes(NUMBER, 'pl-2', row.quiet && 'text-ink-2')}>
                  {row.amount ?? text.notCharged}
                </td>
              </tr>
            ))}
            <tr className="h-[26px] font-semibold">
              <td>{text.postedTotal}</td>
              <td className={NUMBER}>{sum.counted}</td>
              <td className="phone:hidden" />
              <td className={NUMBER}>{sum.posted}</td>
            </tr>
          </tbody>
        </table>
      )}
      {sum.wrong !== undefined && <p className="text-12 text-bad">{sum.wrong}</p>}
    </section>
  )
}
