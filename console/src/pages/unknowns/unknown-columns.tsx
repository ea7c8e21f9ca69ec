/** Columns of both lists: the request, its key, its upstream, and what is known. */
import { age, clock, clockSeconds, day, moneyExact, moneyInList, NONE, shortId } from '../../app/format.ts'
import type { Schema } from '../../api/client.ts'
import { CopyIconButton } from '../../ui/copy.tsx'
import type { Column } from '../../ui/data-table.tsx'
import { State } from '../../ui/state-mark.tsx'
import { TwoLines } from '../../ui/two-lines.tsx'
import { words } from '../../words/words.ts'

export type UnknownCall = Schema<'Unknown'>

export function idOf({ request_id: id, attempt }: UnknownCall): string {
  return `${id}/${attempt}`
}

/** `gpt-image-2/azure-eu` → `gpt-image-2 / azure-eu`. */
export function deploymentText(deployment: string): string {
  const at = deployment.lastIndexOf('/')
  return at < 0 ? deployment : `${deployment.slice(0, at)} / ${deployment.slice(at + 1)}`
}

export function openColumns(nowMs: number): readonly Column<UnknownCall>[] {
  const { columns } = words.unknowns
  return [
    ...sharedColumns(nowMs),
    {
      id: 'known',
      drop: 1,
      head: columns.known,
      cell: (call) => <Known call={call} />,
    },
    {
      id: 'reserved',
      head: columns.reserved,
      width: 120,
      align: 'right',
      cell: ({ reserved_usd: usd }) => (
        <span className="font-semibold" title={moneyExact(usd)}>
          {usd === null ? words.ui.unpriced : moneyInList(usd)}
        </span>
      ),
    },
    {
      id: 'posts',
      drop: 3,
      head: columns.posts,
      width: 152,
      align: 'right',
      cell: ({ posted_at: at }) => (
        <TwoLines lines={[`${day(at)} ${clock(at)}`, words.unknowns.in(age(Date.parse(at) - nowMs))]} />
      ),
    },
  ]
}

export function resolvedColumns(nowMs: number): readonly Column<UnknownCall>[] {
  const { columns } = words.unknowns
  return [
    ...sharedColumns(nowMs),
    {
      id: 'outcome',
      drop: 1,
      head: columns.outcome,
      width: 220,
      cell: ({ resolved }) =>
        resolved && (
          <State mark={resolved.action === 'post' ? 'good' : 'off'}>
            {resolved.action === 'post'
              ? words.unknowns.posted(moneyInList(resolved.cost_usd))
              : words.unknowns.voided}
          </State>
        ),
    },
    {
      id: 'by',
      drop: 2,
      head: columns.by,
      cell: ({ resolved }) =>
        resolved && (
          <TwoLines
            lines={[resolved.note ?? NONE, `${resolved.by} · ${day(resolved.at)} ${clock(resolved.at)}`]}
          />
        ),
    },
    {
      id: 'reserved',
      head: columns.reserved,
      width: 120,
      align: 'right',
      cell: ({ reserved_usd: usd }) => (usd === null ? words.ui.unpriced : moneyInList(usd)),
    },
  ]
}

function sharedColumns(nowMs: number): readonly Column<UnknownCall>[] {
  const { columns, ago, project } = words.unknowns
  return [
    {
      id: 'asked',
      drop: 4,
      head: columns.asked,
      width: 170,
      cell: ({ requested_at: at }) => (
        <TwoLines lines={[`${day(at)} ${clockSeconds(at)}`, ago(age(nowMs - Date.parse(at)))]} />
      ),
    },
    {
      id: 'key',
      drop: 2,
      head: columns.key,
      width: 137,
      cell: (call) => <TwoLines lines={[call.key_id, project(call.project)]} />,
    },
    {
      id: 'deployment',
      head: columns.deployment,
      cell: (call) => (
        <TwoLines
          lines={[
            <span key="name" className="font-semibold">
              {deploymentText(call.deployment)}
            </span>,
            call.what ?? call.model,
          ]}
        />
      ),
    },
  ]
}

export function phoneRow(call: UnknownCall) {
  return (
    <span className="flex items-start gap-3 py-2">
      <span className="min-w-0 flex-1">
        <span className="block truncate font-semibold">{deploymentText(call.deployment)}</span>
        <span className="block truncate text-12 text-ink-2">{sentence(call.reason)}</span>
      </span>
      <span className="text-right">
        <span className="block font-semibold tabular-nums">{moneyInList(call.reserved_usd)}</span>
        <span className="block text-12 text-ink-2">{call.key_id}</span>
      </span>
    </span>
  )
}

/** Why nobody knows whether it was charged, and the id to look for. */
export function Known({ call }: { readonly call: UnknownCall }) {
  return <TwoLines lines={[sentence(call.reason), <CallId key="id" id={call.call_id} />]} />
}

function CallId({ id }: { readonly id: string }) {
  return (
    <span className="inline-flex h-4 items-center gap-1">
      <span className="mono-12">
        {words.unknowns.call} {shortId(id)}
      </span>
      <span className="relative">
        <CopyIconButton text={id} />
      </span>
    </span>
  )
}

/** Reasons are written to stand inside of a sentence. A name stays as it is. */
function sentence(text: string): string {
  return /^[a-z]+\s/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text
}
