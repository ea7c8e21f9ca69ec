/** Which models a hard budget would refuse, and what to do about it. */
import { useQuery } from '@tanstack/react-query'
import { moneyQueries } from '../../api/queries/money.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { Banner } from '../../ui/banner.tsx'
import { TextLink } from '../../ui/link.tsx'
import { words } from '../../words/words.ts'

/** More names than this say nothing more. */
const MOST_NAMES = 3

const ALL: readonly string[] = []

interface UnpricedNoteProps {
  /** The key has a hard budget. */
  readonly isHard: boolean
  /** Those that the key may call. Empty: all. */
  readonly models?: readonly string[]
}

export function UnpricedNote({ isHard, models = ALL }: UnpricedNoteProps) {
  const may = useMay()
  const { data } = useQuery({ ...moneyQueries.prices(), enabled: may('prices.read') })
  const without = data?.data.filter(({ from }) => from === 'none').map(({ model }) => model)
  const unpriced = [...new Set(without)].filter((model) => models.length === 0 || models.includes(model))
  const say = words.keys.form
  if (unpriced.length === 0 || !isHard) return null
  const names = unpriced.slice(0, MOST_NAMES).join(', ')
  return (
    <Banner
      tone="warn"
      title={say.unpriced(names, unpriced.length - MOST_NAMES)}
      action={
        <TextLink to={paths.settings('prices')} className="shrink-0 text-12">
          {say.setPrices}
        </TextLink>
      }
    >
      {say.unpricedText}
    </Banner>
  )
}
