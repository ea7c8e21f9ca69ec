/** The money of one request as lines for a table. The server did the arithmetic; here it is only added up and compared. */
import type { RequestDetail } from '../../api/queries/requests.ts'
import { count, moneyExact, whole } from '../../app/format.ts'
import { nanoOf, usdOf } from '../../app/money.ts'
import { words } from '../../words/words.ts'
import { upstreamOf } from '../../parts/deployments/short-names.ts'

type MoneyLine = RequestDetail['money']['lines'][number]

export interface MoneyRow {
  readonly key: string
  readonly name: string
  readonly shortName: string
  /** Of a call that was not charged: what it ended with. */
  readonly status?: string
  readonly counted: string
  /** Dollars a million, or each. */
  readonly price: string
  readonly ledger: string
  readonly saved?: string
  /** Undefined: nothing was charged. */
  readonly amount: string | undefined
  /** It says what might have been, or what was not. */
  readonly quiet: boolean
}

export interface MoneySum {
  readonly counted: string
  readonly posted: string
  readonly givenBack: string | undefined
  /** What the lines sum to, where that is not what was posted. */
  readonly wrong: string | undefined
}

const MILLION = 1_000_000

export function moneyRows(request: RequestDetail): readonly MoneyRow[] {
  const { money, attempts, model } = request
  const text = words.requests.money
  const rows: MoneyRow[] = []
  if (money.reserved_usd !== null)
    rows.push({
      key: 'reserved',
      name: text.most,
      shortName: text.reserved,
      counted: '',
      price: '',
      ledger: text.reservedFrom(money.reserved_from.map((id) => id.replace(/^\w+:/, '')).join(', ')),
      amount: moneyExact(money.reserved_usd),
      quiet: true,
    })
  const numberOf = new Map(
    attempts.toSorted((a, b) => a.attempt - b.attempt).map(({ attempt }, index) => [attempt, index + 1]),
  )
  const lines = money.lines.map((line, index) => ({ line, index, at: line.attempt ?? MILLION }))
  for (const call of attempts.toSorted((a, b) => a.attempt - b.attempt)) {
    const number = numberOf.get(call.attempt) ?? 0
    const upstream = upstreamOf(call.deployment, model)
    const own = lines.filter(({ at }) => at === call.attempt)
    if (own.length === 0)
      rows.push({
        key: `call ${call.attempt}`,
        name: text.call(number, upstream),
        shortName: text.callShort(number, upstream),
        status:
          call.status === null
            ? (words.requests.story.kinds[call.outcome] ?? call.outcome)
            : text.http(call.status),
        counted: '–',
        price: '–',
        ledger: text.notCharged,
        amount: undefined,
        quiet: true,
      })
    for (const { line, index } of own) rows.push(lineRow(line, index, number, model))
  }
  for (const { line, index, at } of lines)
    if (!numberOf.has(at)) rows.push(lineRow(line, index, undefined, model, money.saved_usd))
  return rows
}

function lineRow(
  line: MoneyLine,
  index: number,
  number: number | undefined,
  model: string | null,
  savedUsd = '0.000000000',
): MoneyRow {
  const text = words.requests.money
  const upstream = upstreamOf(line.deployment, model)
  const isCache = line.of === 'hits'
  const saved = isCache && nanoOf(savedUsd) > 0n ? { saved: text.saved(moneyExact(savedUsd)) } : {}
  const megapixels = line.of === 'megapixels' || line.of === 'given_megapixels'
  const counted = megapixels ? (line.count / MILLION).toFixed(2) : whole(line.count)
  return {
    key: `line ${index}`,
    name: isCache ? text.cache : text.call(number ?? (line.attempt ?? 0) + 1, upstream),
    shortName: isCache ? text.cache : text.callShort(number ?? (line.attempt ?? 0) + 1, upstream),
    counted: text.of[line.of](counted),
    price: line.price_usd === null ? '–' : priceText(line.price_usd, line.per, megapixels),
    ledger: isCache ? text.kinds[line.kind] : `${text.kinds[line.kind]}, ${text.by[line.counted_by]}`,
    ...saved,
    amount: line.amount_usd === null ? words.ui.unpriced : moneyExact(line.amount_usd),
    quiet: false,
  }
}

/** `0.02`, without the zeros at its end. A price for one says so. */
function priceText(usd: string, per: 1 | 1_000_000, isWhole: boolean): string {
  const plain = usd.replace(/\.?0+$/, '')
  return per === 1 || isWhole ? `${plain} ${words.requests.money.each}` : plain
}

export function moneySum({ money, tokens, images }: RequestDetail): MoneySum {
  const sum = money.lines.reduce(
    (total, { amount_usd: usd }) => total + (usd === null ? 0n : nanoOf(usd)),
    0n,
  )
  const text = words.requests.money
  const returned = nanoOf(money.returned_usd)
  return {
    counted:
      images !== null && images > 0
        ? text.of.images(count(images))
        : tokens === null
          ? ''
          : text.of.tokens(whole(sumOfTokens(money.lines) ?? tokens)),
    posted: moneyExact(money.posted_usd),
    givenBack: returned > 0n ? text.givenBack(moneyExact(money.returned_usd)) : undefined,
    wrong: sum === nanoOf(money.posted_usd) ? undefined : text.wrong(moneyExact(usdOf(sum))),
  }
}

function sumOfTokens(lines: readonly MoneyLine[]): number | undefined {
  const counted = lines.filter(({ of }) => of === 'tokens')
  return counted.length === 0 ? undefined : counted.reduce((sum, line) => sum + line.count, 0)
}
