/** The same call with one's own SDK: which one is chosen, the code is copied. */
import { useSession } from '../../app/session.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { SDK_NAMES, type Sdk } from './snippet.ts'

interface SdkCodeProps<Offered extends Sdk> {
  /** The accessible name of the choice. */
  readonly label: string
  readonly offered: readonly Offered[]
  readonly chosen: Offered
  readonly onChoose: (sdk: Offered) => void
  readonly code: string
}

export function SdkCode<Offered extends Sdk>({
  label,
  offered,
  chosen,
  onChoose,
  code,
}: SdkCodeProps<Offered>) {
  return (
    <>
      <Segmented
        label={label}
        value={chosen}
        className="max-w-full self-start overflow-x-auto"
        segments={offered.map((value) => ({ value, label: SDK_NAMES[value] }))}
        onChange={onChoose}
      />
      <CodeBlock code={code.trimEnd()} copied={code} />
    </>
  )
}

/** Where callers reach the gateway, with `/v1` at its end. */
export function useBaseUrl(): string {
  const { install } = useSession()
  return `${install.gateway_url.replace(/\/$/, '')}/v1`
}
