import { UnstyledButton } from '@mantine/core'
import { IconFileTypePdf, IconPlayerPlayFilled } from '@tabler/icons-react'
import { useQueries, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Media, mediaURL, type Schemas } from '../../../api/client'
import { linkCardQuery, mediaQuery } from '../../../lib/queries'
import { type Look, lookOf } from './looks'

type Segment = Schemas['SegmentPreview']

/** The text with its links, truncated like on the network. Spans count Unicode code points; JavaScript strings count UTF-16 units. */
export function FrameText({ segment, prefix }: { segment: Segment; prefix?: ReactNode }) {
  const { t } = useTranslation()
  const [whole, setWhole] = useState(false)
  if (segment.text === '' && !prefix) return null
  const points = Array.from(segment.text)
  const end = segment.fold_at !== undefined && !whole ? segment.fold_at : points.length
  const out: ReactNode[] = []
  let at = 0
  for (const s of segment.spans) {
    if (s.start >= end) break
    const said = points.slice(s.start, Math.min(s.end, end)).join('')
    out.push(points.slice(at, s.start).join(''))
    out.push(
      s.kind === 'link' && /^https?:\/\//i.test(s.target) ? (
        <a key={s.start} href={s.target} target="_blank" rel="noreferrer" data-span={s.kind}>
          {said}
        </a>
      ) : (
        <span key={s.start} className="dlf-link" data-span={s.kind}>
          {said}
        </span>
      ),
    )
    at = s.end
  }
  out.push(points.slice(at, end).join(''))
  return (
    <div className="dlf-text">
      {prefix}
      {out}
      {end < points.length && (
        <>
          {'… '}
          <UnstyledButton
            className="dlf-more"
            onClick={() => setWhole(true)}
            aria-label={t('compose.folded', { count: end })}
            title={t('compose.folded', { count: end })}
          >
            {t('compose.seeMore')}
          </UnstyledButton>
        </>
      )}
    </div>
  )
}

/** One file in a grid; a video shows its first frame. */
function File({ media }: { media?: Media }) {
  const { t } = useTranslation()
  if (!media) return <span className="dlf-file" />
  if (media.kind === 'document')
    return (
      <span className="dlf-file dlf-document" data-media-kind="document">
        <IconFileTypePdf size={40} stroke={1.5} aria-hidden />
        <strong>{media.file_name.replace(/\.pdf$/i, '')}</strong>
        {t('media.pages', { count: media.pages ?? 0 })}
      </span>
    )
  return (
    <span className="dlf-file" data-media-kind={media.kind}>
      {media.kind === 'video' ? (
        <>
          <video
            src={`${mediaURL(media.id)}#t=0.1`}
            preload="metadata"
            muted
            playsInline
            tabIndex={-1}
            aria-label={media.alt_text || media.file_name}
          />
          <span className="dlf-play" aria-hidden>
            <IconPlayerPlayFilled size={22} />
          </span>
        </>
      ) : (
        <img src={mediaURL(media.id)} alt={media.alt_text || media.file_name} />
      )}
    </span>
  )
}

/** The files of a post in the layout of a network. */
export function MediaGrid({ ids, network }: { ids: string[]; network: string }) {
  const { t } = useTranslation()
  const files = useQueries({ queries: ids.map((id) => mediaQuery(id)) }).map((q) => q.data)
  const [at, setAt] = useState(0)
  if (ids.length === 0) return null
  const first = files[0]
  const look = lookOf(network)
  const [min, max] = look.ratio
  const own = first?.width && first.height ? first.width / first.height : 16 / 9
  const ratio = Math.min(max, Math.max(min, own))
  // These two show one file after the other.
  if (network === 'instagram' || (network === 'threads' && ids.length > 1)) {
    const shown = Math.min(at, ids.length - 1)
    return (
      <div className="dlf-media" data-grid="carousel" style={{ aspectRatio: ratio }}>
        <File media={files[shown]} />
        {ids.length > 1 && (
          <>
            <span className="dlf-count">
              {shown + 1}/{ids.length}
            </span>
            <UnstyledButton
              className="dlf-next"
              aria-label={t('compose.nextFile')}
              onClick={() => setAt((shown + 1) % ids.length)}
            >
              ›
            </UnstyledButton>
          </>
        )}
      </div>
    )
  }
  const n = Math.min(ids.length, look.files)
  return (
    <div className="dlf-media" data-grid={n > 4 ? 'many' : n} style={n === 1 ? { aspectRatio: ratio } : undefined}>
      {ids.slice(0, n).map((id, i) => (
        <File key={id} media={files[i]} />
      ))}
      {ids.length > n && <span className="dlf-count">+{ids.length - n}</span>}
    </div>
  )
}

/** The card of a linked page: its real title and image. */
export function LinkCard({ url, look }: { url: string; look: Look['card'] }) {
  const card = useQuery(linkCardQuery(url)).data
  const site = card?.site ?? hostOf(url)
  const title = card?.title ?? ''
  return (
    <a
      className="dlf-card"
      data-look={look}
      data-card={card ? 'ready' : 'waiting'}
      href={/^https?:/i.test(url) ? url : undefined}
      target="_blank"
      rel="noreferrer"
    >
      {card?.image && <img src={card.image} alt="" />}
      {look === 'overlay' && card?.image ? (
        <span className="dlf-card-over">{title || site}</span>
      ) : (
        <span className="dlf-card-text">
          <span className="dlf-card-site">{site}</span>
          <strong>{title || url}</strong>
          {card?.description && look !== 'overlay' && <span className="dlf-card-about">{card.description}</span>}
        </span>
      )}
    </a>
  )
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname.replace(/^www\./, '')
  } catch {
    return url
  }
}
