import { Page } from '../../ui/page.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { words } from '../../words/words.ts'

export function RequestPage() {
  return (
    <Page title={words.requests.title}>
      <LoadingRows />
    </Page>
  )
}
