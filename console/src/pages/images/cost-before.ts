/** The most that pressing the button can cost, asked of the node while one types; it also says what would be refused. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { FaultError } from '../../api/faults.ts'
import { maxCost, type EditFiles, type ImageFields } from '../../api/image-calls.ts'
import { nanoOf, usdOf } from '../../app/money.ts'

/** Typing goes on: the node is asked once it pauses. */
const PAUSE_MS = 500
/** Images are not sent twice where that is felt. */
const MAX_SENT_BYTES = 6_000_000

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
  const isLarge = bytesOf(files) > MAX_SENT_BYTES
  const images = files?.images.map(({ name, size, lastModified }) => [name, size, lastModified])
  const current = JSON.stringify([project, first, requests.length, images, files?.mask?.size])
  const [asked, setAsked] = useState(current)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(current), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [current])
  const isReady =
    project !== undefined &&
    first !== undefined &&
    first.prompt !== '' &&
    !isLarge &&
    files?.images.length !== 0
  const query = useQuery({
    queryKey: ['image-cost', asked],
    enabled: isReady && asked === current,
    retry: false,
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      if (project === undefined || first === undefined) return null
      return (await maxCost(project, first, files, signal)) ?? null
    },
  })
  const refusal = query.error instanceof FaultError ? query.error : undefined
  if (isLarge) return { most: 'large', refusal: undefined }
  if (query.data === undefined || asked !== current) return { most: undefined, refusal }
  if (query.data === null) return { most: 'unpriced', refusal }
  return { most: usdOf(nanoOf(query.data) * BigInt(requests.length)) as Amount, refusal }
}

function bytesOf(files: EditFiles | undefined): number {
  return files?.images.reduce((sum, { size }) => sum + size, files.mask?.size ?? 0) ?? 0
}
