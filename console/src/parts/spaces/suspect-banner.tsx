/** Vectors that may be of another space: how many, since when, and where they are listed. */
import { useQuery } from '@tanstack/react-query'
import { ShieldAlert } from 'lucide-react'
import { spaceQueries, type SuspectWindow } from '../../api/queries/spaces.ts'
import { moment } from '../../app/format.ts'
import { useMay } from '../../app/session.ts'
import { DAY_MS } from '../../time/day.ts'
import { nowMs, useNow } from '../../time/now.ts'
import { Banner } from '../../ui/banner.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import type { Address } from '../../ui/link.tsx'
import { words } from '../../words/words.ts'

/** Time after the end of a window for which pages still mention it: a weekend, and the time to read of it. */
const RECENT_MS = 3 * DAY_MS

/** The newest window with vectors that is open, or ended lately. */
export function useSuspects(isOwn: (window: SuspectWindow) => boolean): SuspectWindow | undefined {
  const may = useMay()
  const { data } = useQuery({ ...spaceQueries.suspects(), enabled: may('spaces.read') })
  return data?.data.find((one) => one.vectors > 0 && isOwn(one) && isRecent(one))
}

function isRecent({ until }: SuspectWindow): boolean {
  return until === null || nowMs() - Date.parse(until) < RECENT_MS
}

/** Nothing leaves a deployment once it was found outside. */
export function suspectText({ from, found_at: found, vectors, keys }: SuspectWindow, nowMs: number): string {
  return words.suspects.banner(moment(from, nowMs), moment(found, nowMs), vectors, keys)
}

interface SuspectBannerProps {
  readonly window: SuspectWindow
  /** Where its windows are listed. */
  readonly to: Address
  readonly className?: string
}

export function SuspectBanner({ window, to, className }: SuspectBannerProps) {
  const now = useNow()
  const say = words.suspects
  return (
    <Banner
      tone="odd"
      icon={<ShieldAlert size={17} aria-hidden />}
      title={say.bannerTitle}
      action={<ButtonLink to={to}>{say.bannerAction}</ButtonLink>}
      {...(className !== undefined && { className })}
    >
      {suspectText(window, now)}
    </Banner>
  )
}
