import { Page } from '../../ui/page.tsx'
import { LoadingRows } from '../../ui/loading.tsx'
import { words } from '../../words/words.ts'

export function KeyPage() {
  return (
    <Page title={words.keys.title}>
      <LoadingRows />
    </Page>
  )
}
