import { useTranslation } from 'react-i18next'
import type { Schemas } from '../api/client'

/** Why a page has no article. The technical detail of an error of Dateline is in English. */
export function NoArticle({ reason, detail }: { reason?: Schemas['NoArticleReason']; detail: string }) {
  const { t } = useTranslation()
  return (
    <>
      {t(`noArticle.reasons.${reason ?? 'extraction_failed'}`)}
      {(reason === undefined || reason === 'extraction_failed') && <span lang="en">: {detail}</span>}
    </>
  )
}
