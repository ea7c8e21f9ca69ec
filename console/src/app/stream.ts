/**
 * The one stream of live events of this tab. Every view that wants a topic subscribes; the connection is opened with the
 * topics of all of them, and closed when nobody listens. After a loss it is tried again after 1, 2, 4 … 30 seconds.
 */
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react'
import { BASE } from './base.ts'
import { parseSearch, stringifySearch } from './search.ts'

export type Topic = 'flows' | 'deployment' | 'attention' | 'request' | 'key' | 'job' | 'batch' | 'incidents'
export type StreamState = 'idle' | 'connecting' | 'live' | 'lost'
/** Filters of the stream: `project`, and those of requests. */
export type StreamFilters = Readonly<
  Record<string, string | readonly string[] | number | boolean | undefined>
>

interface Subscription {
  readonly topic: Topic
  readonly filters: StreamFilters
  readonly listener: (data: unknown) => void
}

const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 30_000
/** Views come and go together when a page changes: one connection, not five. */
const SETTLE_MS = 50

const subscriptions = new Set<Subscription>()
const stateListeners = new Set<() => void>()
let source: EventSource | undefined
let openedFor = ''
let state: StreamState = 'idle'
let retryMs = FIRST_RETRY_MS
let retryTimer: ReturnType<typeof setTimeout> | undefined
let settleTimer: ReturnType<typeof setTimeout> | undefined

function subscribe(topic: Topic, listener: (data: unknown) => void, filters: StreamFilters = {}): () => void {
  const subscription: Subscription = { topic, filters, listener }
  subscriptions.add(subscription)
  settle()
  return () => {
    subscriptions.delete(subscription)
    settle()
  }
}

/** Listens while the component is there and `on` is true. */
export function useStream<Data>(
  topic: Topic,
  listener: (data: Data) => void,
  { on = true, filters = {} }: { readonly on?: boolean; readonly filters?: StreamFilters } = {},
): void {
  const hear = useEffectEvent(listener)
  // Filters are made with every render; their text changes only when they do.
  const query = stringifySearch(filters)
  useEffect(() => {
    if (!on) return
    return subscribe(topic, (data) => hear(data as Data), parseSearch(query))
  }, [topic, on, query])
}

export function useStreamState(): StreamState {
  return useSyncExternalStore(
    (listener) => {
      stateListeners.add(listener)
      return () => stateListeners.delete(listener)
    },
    () => state,
  )
}

function settle(): void {
  clearTimeout(settleTimer)
  settleTimer = setTimeout(() => {
    const address = addressOf()
    if (address === openedFor && source !== undefined) return
    close()
    if (address === '') setState('idle')
    else open(address)
  }, SETTLE_MS)
}

/** Empty: nobody listens. */
function addressOf(): string {
  if (subscriptions.size === 0) return ''
  const topics = [...new Set([...subscriptions].map(({ topic }) => topic))].sort()
  const filters = Object.assign({}, ...[...subscriptions].map((one) => one.filters)) as StreamFilters
  return `${BASE}api/v1/events${stringifySearch({ topics: topics.join(','), ...filters })}`
}

function open(address: string): void {
  openedFor = address
  setState('connecting')
  const opened = new EventSource(address)
  source = opened
  opened.addEventListener('open', () => {
    retryMs = FIRST_RETRY_MS
    setState('live')
  })
  // The browser would try again by itself, without a pause that grows and for ever also after a refusal.
  opened.addEventListener('error', () => {
    close()
    setState('lost')
    retryTimer = setTimeout(() => {
      const next = addressOf()
      if (next !== '') open(next)
    }, retryMs)
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS)
  })
  for (const topic of new Set([...subscriptions].map((one) => one.topic)))
    opened.addEventListener(topic, ({ data }: MessageEvent<string>) => {
      const parsed: unknown = JSON.parse(data)
      for (const one of subscriptions) if (one.topic === topic) one.listener(parsed)
    })
}

function close(): void {
  clearTimeout(retryTimer)
  source?.close()
  source = undefined
  openedFor = ''
}

function setState(next: StreamState): void {
  if (next === state) return
  state = next
  for (const listener of stateListeners) listener()
}
