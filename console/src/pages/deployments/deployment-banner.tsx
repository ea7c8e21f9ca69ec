/** What is wrong: what, since when, what it means for callers, what happens by itself, one button. */
import { List, ScanSearch, ShieldAlert, Timer, TriangleAlert, Pause } from 'lucide-react'
import { moment } from '../../app/format.ts'
import { useNow } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import type { Deployment } from '../../api/queries/deployments.ts'
import type { SuspectWindow } from '../../api/queries/spaces.ts'
import { SuspectBanner, suspectText, useSuspects } from '../../parts/spaces/suspect-banner.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { words } from '../../words/words.ts'
import { useCompare } from './compare.ts'
import { nameOf } from './state.tsx'

interface BannerProps {
  readonly one: Deployment
  readonly siblings: readonly Deployment[]
}

export function DeploymentBanner({ one, siblings }: BannerProps) {
  const now = useNow()
  const { compare, busy } = useCompare()
  const { banner } = words.deployments
  const since = moment(one.since, now)
  const others = othersText(siblings)
  const suspect = useSuspects(({ deployment }) => deployment === one.id)
  const itsRequests = (
    <ButtonLink
      to={paths.requests({ deployment: one.id, from: one.since })}
      icon={<List size={15} aria-hidden />}
    >
      {banner.itsRequests}
    </ButtonLink>
  )
  const checkNow = (
    <Button icon={<ScanSearch size={15} aria-hidden />} busy={busy} onClick={() => compare(one.model)}>
      {banner.compare}
    </Button>
  )
  const reason = one.reason === null ? '' : ` ${banner.reason(reasonText(one.reason))}`
  if (one.state === 'healthy' && one.skipped_for)
    return (
      <Banner
        tone="warn"
        icon={<TriangleAlert size={17} aria-hidden />}
        title={words.deployments.skippedFor(one.skipped_for.keys)}
        action={
          <ButtonLink to={paths.upstreams({ model: one.model, tab: 'routing' })}>
            {words.deployments.setPrice}
          </ButtonLink>
        }
      />
    )
  switch (one.state) {
    case 'ejected':
    case 'probing':
      return (
        <Banner
          tone="bad"
          icon={<TriangleAlert size={17} aria-hidden />}
          title={banner.ejected.title}
          action={itsRequests}
        >
          {banner.ejected.text(since, others)}
          {reason}
        </Banner>
      )
    case 'limited':
      return (
        <Banner
          tone="warn"
          icon={<Timer size={17} aria-hidden />}
          title={banner.limited.title}
          action={itsRequests}
        >
          {banner.limited.text(since, others)}
        </Banner>
      )
    case 'quarantined':
      return (
        <Banner
          tone="odd"
          icon={<ShieldAlert size={17} aria-hidden />}
          title={banner.quarantined.title}
          action={
            suspect === undefined || suspect.requests === 0 ? checkNow : <SuspectRequests window={suspect} />
          }
        >
          {banner.quarantined.text(since, others)} {suspect && suspectText(suspect, now)}
        </Banner>
      )
    case 'held-back':
      return (
        <Banner icon={<Timer size={17} aria-hidden />} title={banner['held-back'].title} action={checkNow}>
          {banner['held-back'].text(since)}
        </Banner>
      )
    case 'drained':
      return (
        <Banner
          icon={<Pause size={17} aria-hidden />}
          title={banner.drained.title(one.drained?.by ?? '')}
          action={itsRequests}
        >
          {banner.drained.text(since, one.drained?.reason ?? '')}
        </Banner>
      )
    case 'healthy':
      if (suspect) return <SuspectBanner window={suspect} to={paths.deployment(one.id, { tab: 'drift' })} />
      return siblings.length === 0 ? <Alone one={one} /> : null
  }
}

function SuspectRequests({
  window: { deployment, from, found_at: to, requests },
}: {
  readonly window: SuspectWindow
}) {
  return (
    <ButtonLink to={paths.requests({ deployment, from, to })} icon={<List size={15} aria-hidden />}>
      {words.suspects.viewRequests(requests)}
    </ButtonLink>
  )
}

/** A kind of failure has words of its own; whatever else was written for people. */
export function reasonText(reason: string): string {
  return words.deployments.kinds[reason] ?? reason
}

function othersText(siblings: readonly Deployment[]): string {
  const well = siblings.filter(({ state }) => state === 'healthy').map(nameOf)
  if (well.length === 0) return ''
  return well.length === 1
    ? words.deployments.banner.serves(well[0] ?? '')
    : words.deployments.banner.serve(well.join(', '))
}

function Alone({ one }: { readonly one: Deployment }) {
  return (
    <div className="flex flex-col gap-2 text-12 text-ink-2">
      <p>{words.deployments.alone}</p>
      <CodeBlock
        code={`models:\n  ${one.model}:\n    deployments: [{ upstream: ${one.upstream} }, { upstream: another }]`}
      />
    </div>
  )
}
