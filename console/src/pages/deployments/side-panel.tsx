/** Facts beside a deployment: what it is, its space, its day, its nodes, its credential. */
import { useQuery } from '@tanstack/react-query'
import { GitMerge, ScanSearch } from 'lucide-react'
import { cosine, moment, whole } from '../../app/format.ts'
import { DAY_MS } from '../../time/day.ts'
import { useNow } from '../../time/now.ts'
import { paths } from '../../app/paths.ts'
import { useMay } from '../../app/session.ts'
import { deploymentQueries, type Deployment } from '../../api/queries/deployments.ts'
import { spaceQueries } from '../../api/queries/spaces.ts'
import { Button } from '../../ui/button.tsx'
import { CopyIconButton } from '../../ui/copy.tsx'
import { TextLink } from '../../ui/link.tsx'
import { Facts, Section } from '../../ui/page.tsx'
import { StateMark } from '../../ui/state-mark.tsx'
import { LockTag } from '../../ui/tag.tsx'
import { STATE_MARKS } from '../../parts/deployments/state-marks.ts'
import { words } from '../../words/words.ts'
import { DayCells } from './columns.tsx'
import { priceLine } from './price-line.ts'
import { useCompare } from './compare.ts'
import { stateText, turnText } from './state.tsx'

interface SideProps {
  readonly one: Deployment
  readonly siblings: readonly Deployment[]
  readonly onAccept: () => void
}

export function SidePanel({ one, siblings, onAccept }: SideProps) {
  const now = useNow()
  const { facts } = words.deployments
  const may = useMay()
  const spaces = useQuery({ ...spaceQueries.all(), enabled: one.space !== null && may('spaces.read') })
  const pins = spaces.data?.data.find(({ model }) => model === one.model)?.pinned_by
  return (
    <div className="flex flex-col divide-y divide-line px-5">
      <Section title={words.deployments.deployment} className="gap-2 py-4">
        <Facts
          labelWidth={108}
          facts={[
            [
              facts.model,
              <TextLink key="model" to={paths.model(one.model)}>
                {one.model}
              </TextLink>,
            ],
            [facts.upstream, one.upstream],
            [
              facts.asks,
              <span key="asks" className="mono-12 break-all">
                {one.upstream_model}
              </span>,
            ],
            [facts.turn, turnText(one, [one, ...siblings])],
            [facts.price, one.price.map(priceLine).join(', ')],
            ...(one.managed_at === null
              ? []
              : ([
                  [facts.managed, <LockTag key="managed" at={one.managed_at.split('/').at(-1) ?? ''} />],
                ] as const)),
          ]}
        />
      </Section>
      {one.space !== null && (
        <Section title={words.deployments.space} className="gap-2 py-4">
          <Facts
            labelWidth={108}
            facts={[
              [facts.space, one.space_id === null ? '–' : <SpaceId key="space" id={one.space_id} />],
              [words.deployments.heads.state, words.deployments.spaceStates[one.space.state]],
              [facts.look, cosine(one.space.least_cosine, 9)],
              [facts.lastGood, one.space.last_good_at === null ? '–' : moment(one.space.last_good_at, now)],
              ...(pins ? ([[facts.pinned, words.deployments.pinnedBy(pins.length)]] as const) : []),
            ]}
          />
        </Section>
      )}
      <Section title={words.deployments.day} className="gap-2 py-4">
        <DayCells one={one} cellWidth={5} />
        <span className="flex justify-between text-12 text-ink-3">
          <span>{moment(now - DAY_MS, now)}</span>
          <span>{words.deployments.now}</span>
        </span>
      </Section>
      {one.state === 'quarantined' && <WhichIsRight one={one} onAccept={onAccept} />}
      {one.nodes.length > 0 && (
        <Section title={words.deployments.onNodes} className="gap-1 py-4">
          <ul className="text-12">
            {one.nodes.map((node) => (
              <li key={node.node} className="flex items-center gap-2 py-1">
                <StateMark mark={STATE_MARKS[node.state]} word="" size={9} />
                <span className="mono-12 truncate">{node.node.slice(-8)}</span>
                <span className="ml-auto text-ink-2">{words.deployments.states[node.state]}</span>
                <span className="w-16 text-right text-ink-2 tabular-nums">
                  {words.deployments.of(whole(node.in_flight), node.limit === null ? '∞' : whole(node.limit))}
                </span>
              </li>
            ))}
          </ul>
          <span className="sr-only">{stateText(one, now)}</span>
        </Section>
      )}
      <Credential upstream={one.upstream} />
    </div>
  )
}

/** The question that decides, and its two ways out. */
function WhichIsRight({ one, onAccept }: { readonly one: Deployment; readonly onAccept: () => void }) {
  const may = useMay()
  const { compare, busy } = useCompare()
  const say = words.deployments.drift
  return (
    <Section title={say.which} className="gap-3 py-4 text-12">
      <p className="text-ink-2">
        <strong className="text-ink">{say.wrong}</strong> {say.wrongText}
      </p>
      <Button
        icon={<ScanSearch size={15} aria-hidden />}
        busy={busy}
        why={may('spaces.probe') ? undefined : words.deployments.onlyOperators}
        onClick={() => compare(one.model)}
      >
        {say.lookNow}
      </Button>
      <p className="text-ink-2">
        <strong className="text-ink">{say.changed}</strong> {say.changedText}
      </p>
      <Button
        look="danger"
        icon={<GitMerge size={15} aria-hidden />}
        why={may('spaces.accept') ? undefined : words.deployments.onlyAdmins}
        onClick={onAccept}
      >
        {say.accept}
      </Button>
    </Section>
  )
}

function SpaceId({ id }: { readonly id: string }) {
  return (
    <span className="flex items-start gap-1">
      <span className="mono-12 break-all">{id}</span>
      <CopyIconButton text={id} />
    </span>
  )
}

function Credential({ upstream }: { readonly upstream: string }) {
  const may = useMay()
  const now = useNow()
  const { facts, sources } = words.deployments
  const { data } = useQuery({ ...deploymentQueries.credentials(), enabled: may('upstreams.read') })
  const one = data?.data.find((row) => row.upstream === upstream)
  if (one === undefined) return null
  return (
    <Section title={facts.credential} className="gap-2 py-4">
      <Facts
        labelWidth={108}
        facts={[
          [facts.credential, sources[one.source]],
          [
            facts.storedFor,
            <span key="url" className="mono-12 break-all">
              {one.stored_for ?? one.base_url}
            </span>,
          ],
          ...(one.updated_at === null ? [] : ([[facts.updated, moment(one.updated_at, now)]] as const)),
        ]}
      />
    </Section>
  )
}
