import './article.css'
import { Anchor, Text } from '@mantine/core'
import { createElement, Fragment, type ReactNode, useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { type Element, type Piece, read } from './html'

/**
 * The text of an article with its structure. Its HTML comes from an untrusted
 * site: React creates new elements for what is allowed (html.ts), and nothing sets
 * HTML. Pictures are on other hosts, which get no requests: a link replaces each.
 */
export function Body({ html, text }: { html: string; text: string }) {
  const pieces = useMemo(() => read(html), [html])
  return (
    <div className="dl-article">
      {html.trim() === '' ? (
        text.split('\n\n').map((paragraph, i) => <p key={i}>{paragraph}</p>)
      ) : (
        <Pieces pieces={pieces} inLink={false} />
      )}
    </div>
  )
}

function Pieces({ pieces, inLink }: { pieces: Piece[]; inLink: boolean }) {
  return pieces.map((piece, i) => (
    <Fragment key={i}>{typeof piece === 'string' ? piece : <Shown element={piece} inLink={inLink} />}</Fragment>
  ))
}

function Shown({ element: { tag, address, alt, children }, inLink }: { element: Element; inLink: boolean }) {
  const { t } = useTranslation()
  switch (tag) {
    case 'br':
      return <br />
    case 'img': {
      const label = alt ? t('article.pictureOf', { alt }) : t('article.picture')
      return (
        <Text span size="sm" className="dl-article-picture">
          {inLink ? label : <Outside address={address}>{label}</Outside>}
        </Text>
      )
    }
    case 'a':
      return (
        <Outside address={address}>
          <Pieces pieces={children} inLink />
        </Outside>
      )
    case 'table':
      return (
        // A wide table scrolls, so it must be reachable by keyboard (WCAG 2.2, 2.1.1).
        // biome-ignore lint/a11y/useSemanticElements: a fieldset groups form controls
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        <div className="dl-article-table" tabIndex={0} role="group" aria-label={t('article.table')}>
          <table>
            <Pieces pieces={children} inLink={inLink} />
          </table>
        </div>
      )
    default:
      return createElement(tag, null, <Pieces pieces={children} inLink={inLink} />)
  }
}

function Outside({ address, children }: { address?: string; children: ReactNode }) {
  return (
    <Anchor href={address} target="_blank" rel="noreferrer nofollow" underline="always" inherit>
      {children}
    </Anchor>
  )
}
