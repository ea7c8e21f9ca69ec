/**
 * The one way to write. A 401 opens the sign-in dialog and an unreachable store raises the bar (`app/app.tsx`); every other failure is shown by
 * the form that sends, or by a toast. Success asks again for what the write touches, by path.
 */
import { useMutation, useQueryClient, type Query } from '@tanstack/react-query'
import type { ClientPathsWithMethod, FetchOptions } from 'openapi-fetch'
import { client } from './client.ts'
import type { paths } from './control.d.ts'

type Method = 'post' | 'put' | 'patch' | 'delete'
type Operation<Verb extends Method, Path> = Path extends keyof paths
  ? Verb extends keyof paths[Path]
    ? paths[Path][Verb]
    : never
  : never
type Success = 200 | 201 | 202 | 204
type JsonOf<Answer> = Answer extends { content: { 'application/json': infer Data } } ? Data : undefined
type Data<Of> = Of extends { responses: infer Responses }
  ? { [Status in keyof Responses & Success]: JsonOf<Responses[Status]> }[keyof Responses & Success]
  : never

/** A write on its way, as the mutation cache sees it. */
export interface Sent {
  readonly call: () => Promise<void>
  readonly failureShownBy: 'form' | 'toast'
}

export interface Write<In, Out> {
  /** For the `onSubmit` of a form or dialog, which shows a failure. */
  readonly send: (init: In) => Promise<Out>
  /** For a button or menu: a toast shows a failure, and `done` is not called. */
  readonly now: (init: In, done?: (data: Out) => void) => void
  readonly busy: boolean
}

/** What a write of any feature may add a line to. */
const LOGS = ['/api/v1/audit', '/api/v1/configuration/changes']

interface WriteOptions {
  /** Paths of other features whose answers the write changes. Its own feature and the logs are always asked again. */
  readonly touches?: readonly (keyof paths)[]
}

export function useWrite<Verb extends Method, Path extends ClientPathsWithMethod<typeof client, Verb>>(
  method: Verb,
  path: Path,
  { touches = [] }: WriteOptions = {},
): Write<FetchOptions<Operation<Verb, Path>>, Data<Operation<Verb, Path>>> {
  type Out = Data<Operation<Verb, Path>>
  const queries = useQueryClient()
  const { mutateAsync, isPending, reset } = useMutation({
    mutationKey: [method, path],
    gcTime: 0,
    mutationFn: ({ call }: Sent) => call(),
    onSuccess: () => {
      const touched = [featureOf(path), ...LOGS, ...touches]
      void queries.invalidateQueries({ predicate: (query) => touched.some((one) => isUnder(query, one)) })
    },
  })
  /** What is sent and answered may be a secret, so it passes by the cache, which keeps neither. */
  const send = async (init: unknown, failureShownBy: Sent['failureShownBy']): Promise<Out> => {
    let data: unknown
    const call = async (): Promise<void> => {
      data = (await client.request(method, path, ...([init] as unknown as never))).data
    }
    try {
      await mutateAsync({ call, failureShownBy })
      return data as Out
    } finally {
      reset()
    }
  }
  const act = async (init: unknown, done?: (data: Out) => void): Promise<void> => {
    let data: Out
    try {
      data = await send(init, 'toast')
    } catch {
      // The mutation cache has shown it.
      return
    }
    done?.(data)
  }
  return {
    busy: isPending,
    send: (init) => send(init, 'form'),
    now: (init, done) => void act(init, done),
  }
}

/** `/api/v1/keys/{project}/{name}` → `/api/v1/keys`. */
function featureOf(path: string): string {
  return path.split('/', 4).join('/')
}

function isUnder({ queryKey }: Query, path: string): boolean {
  const asked = String(queryKey[1])
  return asked === path || asked.startsWith(`${path}/`)
}
