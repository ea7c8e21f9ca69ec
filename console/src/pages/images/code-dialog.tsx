/** The request of this page as code to copy. */
import { useState } from 'react'
import { SdkCode, useBaseUrl } from '../../parts/snippets/sdk-code.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { words } from '../../words/words.ts'
import { codeFor, IMAGE_SDKS, type ImageSdk, type CodeRequest } from './code.ts'

interface CodeDialogProps {
  readonly request: Omit<CodeRequest, 'baseUrl'>
  readonly onClose: () => void
}

export function CodeDialog({ request, onClose }: CodeDialogProps) {
  const baseUrl = useBaseUrl()
  const [sdk, setSdk] = useState<ImageSdk>('python')
  const text = words.images
  const code = codeFor(sdk, { ...request, baseUrl })
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={text.codeTitle}
      note={text.codeNote}
      actions={<Button onClick={onClose}>{text.close}</Button>}
    >
      <SdkCode label={text.sdk} offered={IMAGE_SDKS} chosen={sdk} onChoose={setSdk} code={code} />
    </Dialog>
  )
}
