/** Five sums of the range, and what each of them means. */
import { change, day, money, moneyShort, NONE, share } from '../../app/format.ts'
import { locale } from '../../app/language.ts'
import { nanoOf, shareOf } from '../../app/money.ts'
import { paths } from '../../app/paths.ts'
import type { Usage } from '../../api/queries/money.ts'
import { Figures, type Figure } from '../../ui/figures.tsx'
import { TextLink } from '../../ui/link.tsx'
import { usePhone } from '../../ui/media.ts'
import { words } from '../../words/words.ts'
import { changeOf, type GroupRow } from '../../parts/usage/usage-groups.ts'
import type { UsageRange } from '../../parts/usage/usage-range.ts'

/** Groups without a price that a note names. */
const NAMED = 2

interface UsageFiguresProps {
  readonly usage: Usage | undefined
  readonly rows: readonly GroupRow[] | undefined
  readonly range: UsageRange
  readonly beforeText: string
}

export function UsageFigures({ usage, rows, range, beforeText }: UsageFiguresProps) {
  const isPhone = usePhone()
  const figures = isPhone
    ? [spent(usage, range, undefined), saved(usage, true)]
    : [
        spent(usage, range, beforeText),
        saved(usage, false),
        unknown(usage),
        unpriced(usage, rows),
        forecast(usage),
      ]
  return <Figures size="headline" figures={figures} className="px-6 pt-4 pb-3 phone:px-4 phone:pt-3" />
}

/** `beforeText` undefined: in few words. */
function spent(
  usage: Usage | undefined,
  { fromMs, toMs }: UsageRange,
  beforeText: string | undefined,
): Figure {
  const say = words.usage
  const name = beforeText === undefined ? say.spent : say.spentIn(day(fromMs, 'UTC'), day(toMs - 1, 'UTC'))
  if (usage === undefined) return { name, value: NONE, note: ' ' }
  const by = change(changeOf(usage.total.usd, usage.before?.usd))
  // A period that is not over is compared with as much of the one before.
  const isPart = usage.before_span !== null && Date.parse(usage.before_span.to) < fromMs
  const note =
    usage.before_span === null
      ? say.tooEarly
      : by === NONE
        ? say.nothingBefore
        : beforeText === undefined
          ? say.onBeforeShort(by)
          : isPart
            ? say.onSamePart(by, beforeText)
            : say.onBefore(by, beforeText)
  return { name, value: money(usage.total.usd), note }
}

function saved(usage: Usage | undefined, isShort: boolean): Figure {
  const say = words.usage
  if (usage === undefined) return { name: say.saved, value: NONE, note: ' ' }
  const { usd, saved_usd: savedUsd, hits } = usage.total
  const of = share(shareOf(savedUsd, nanoOf(savedUsd) + nanoOf(usd)))
  const note = hits === 0 ? say.savedNothing : isShort ? of : say.savedShare(of)
  return { name: say.saved, value: money(savedUsd), note }
}

function unknown(usage: Usage | undefined): Figure {
  const say = words.usage
  if (usage === undefined) return { name: say.unknown, value: NONE, note: ' ' }
  const { unknowns, unknown_usd: usd } = usage.total
  return {
    name: say.unknown,
    value: money(usd),
    note: unknowns > 0 ? say.unknownCalls(unknowns) : say.noUnknowns,
  }
}

function unpriced(usage: Usage | undefined, rows: readonly GroupRow[] | undefined): Figure {
  const say = words.usage
  if (usage === undefined) return { name: say.unpriced, value: NONE, note: ' ' }
  const { unpriced: calls } = usage.total
  if (calls === 0) return { name: say.unpriced, value: say.unpricedRows(0), note: say.unpricedNone }
  const names = (rows ?? []).flatMap(({ name, total }) =>
    name !== undefined && total.unpriced > 0 ? [name] : [],
  )
  return {
    name: say.unpriced,
    value: <span className="text-warn">{say.unpricedRows(calls)}</span>,
    note: (
      <>
        {say.unpricedIn} <TextLink to={paths.settings('prices')}>{names.slice(0, NAMED).join(', ')}</TextLink>
      </>
    ),
  }
}

function forecast(usage: Usage | undefined): Figure {
  const say = words.usage
  const until = usage?.forecast?.until
  const moment = until === undefined ? Date.now() : Date.parse(until) - 1
  const month = new Intl.DateTimeFormat(locale, { month: 'long', timeZone: 'UTC' }).format(moment)
  const name = say.forecast(month)
  if (!usage?.forecast) return { name, value: NONE, note: usage === undefined ? ' ' : say.noForecast }
  const { usd, low_usd: low, high_usd: high } = usage.forecast
  return { name, value: moneyShort(usd), note: `${moneyShort(low)} – ${moneyShort(high).replace('$', '')}` }
}
