/** The most that pressing the button can cost, asked of the node while one types; it also says what would be refused. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { FaultError } from '../../api/faults.ts'
import { mostItCosts, type EditFiles, type ImageFields } from '../../api/image-calls.ts'
import { nanoOf, usdOf } from '../../app/money.ts'

/** Typing goes on: the node is asked once it pauses. */
const PAUSE_MS = 500
/** Pictures are not sent twice where that is felt. */
const MOST_SENT_BYTES = 6_000_000

/** Dollars, as a decimal. */
type Amount = `${number}`

export interface CostBefore {
  /** `large`: it was not asked. Undefined: it is not known yet. */
  readonly most: Amount | 'unpriced' | 'large' | undefined
  readonly refusal: FaultError | undefined
}

export function useCostBefore(
  project: string | undefined,
  requests: readonly ImageFields[],
  files: EditFiles | undefined,
): CostBefore {
  const [first] = requests
  const isLarge = bytesOf(files) > MOST_SENT_BYTES
  const given = files?.pictures.map(({ name, size, lastModified }) => [name, size, lastModified])
  const wanted = JSON.stringify([project, first, requests.length, given, files?.mask?.size])
  const [asked, setAsked] = useState(wanted)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const isReady =
    project !== undefined &&
    first !== undefined &&
    first.prompt !== '' &&
    !isLarge &&
    files?.pictures.length !== 0
  const query = useQuery({
    queryKey: ['image-cost', asked],
    enabled: isReady && asked === wanted,
    retry: false,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      if (project === undefined || first === undefined) return null
      return (await mostItCosts(project, first, files, signal)) ?? null
    },
  })
  const refusal = query.error instanceof FaultError ? query.error : undefined
  if (isLarge) return { most: 'large', refusal: undefined }
  if (query.data === undefined || asked !== wanted) return { most: undefined, refusal }
  if (query.data === null) return { most: 'unpriced', refusal }
  return { most: usdOf(nanoOf(query.data) * BigInt(requests.length)) as Amount, refusal }
}

function bytesOf(files: EditFiles | undefined): number {
  return files?.pictures.reduce((sum, { size }) => sum + size, files.mask?.size ?? 0) ?? 0
}
