/** The request of this page as code to copy. */
import { useState } from 'react'
import { useSession } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Segmented } from '../../ui/segmented.tsx'
import { words } from '../../words/words.ts'
import { codeFor, SDK_NAMES, SDKS, type Sdk, type Wanted } from './code.ts'

interface CodeDialogProps {
  readonly wanted: Omit<Wanted, 'baseUrl'>
  readonly onClose: () => void
}

export function CodeDialog({ wanted, onClose }: CodeDialogProps) {
  const { install } = useSession()
  const [sdk, setSdk] = useState<Sdk>('python')
  const text = words.images
  const code = codeFor(sdk, { ...wanted, baseUrl: `${install.gateway_url.replace(/\/$/, '')}/v1` })
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={text.codeTitle}
      note={text.codeNote}
      actions={<Button onClick={onClose}>{text.close}</Button>}
    >
      <Segmented
        label={text.sdk}
        value={sdk}
        onChange={setSdk}
        segments={SDKS.map((value) => ({ value, label: SDK_NAMES[value] }))}
        className="self-start"
      />
      <CodeBlock code={code.trimEnd()} copied={code} />
    </Dialog>
  )
}
