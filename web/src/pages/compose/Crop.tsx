import { Button, Group, SegmentedControl, Slider, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api, type Media, mediaURL, unwrap } from '../../api/client'
import { upload } from '../../api/upload'
import { useAct } from '../../lib/act'
import { cutOf, ratios, type Ratio } from './cut'
import { Modal } from '../../components/Modal'

/** Crops an image into a new file with the same description. */
export function Crop({ media, close, done }: { media: Media; close: () => void; done: (m: Media) => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const canvas = useRef<HTMLCanvasElement>(null)
  const [image, setImage] = useState<HTMLImageElement>()
  const [ratio, setRatio] = useState<Ratio>('1:1')
  const [zoom, setZoom] = useState(1)
  const [x, setX] = useState(50)
  const [y, setY] = useState(50)
  useEffect(() => {
    const img = new Image()
    img.onload = () => setImage(img)
    img.src = mediaURL(media.id)
  }, [media.id])
  useEffect(() => {
    const place = canvas.current
    const pen = place?.getContext('2d')
    if (!image || !place || !pen) return
    const cut = cutOf(image.naturalWidth, image.naturalHeight, ratio, zoom, x / 100, y / 100)
    place.width = cut.width
    place.height = cut.height
    pen.drawImage(image, cut.left, cut.top, cut.width, cut.height, 0, 0, cut.width, cut.height)
  }, [image, ratio, zoom, x, y])
  const save = useAct({
    send: async () => {
      const type = media.mime_type === 'image/jpeg' ? 'image/jpeg' : 'image/png'
      const blob = await new Promise<Blob | null>((give) => canvas.current?.toBlob(give, type, 0.92))
      if (!blob) throw new Error(t('media.cropFailed'))
      const made = await upload(new File([blob], media.file_name, { type }), () => undefined)
      if (media.alt_text === '') return made
      return unwrap(
        api.PATCH('/api/v1/media/{id}', { params: { path: { id: made.id } }, body: { alt_text: media.alt_text } }),
      )
    },
    accepted: (made) => {
      client.setQueryData(['media', made.id], made)
      void client.invalidateQueries({ queryKey: ['media-list'] })
      done(made)
    },
    done: () => undefined,
  })
  return (
    <Modal opened onClose={close} title={t('media.crop')} size="lg" closeButtonProps={{ 'aria-label': t('close') }}>
      <Stack>
        <canvas
          ref={canvas}
          role="img"
          aria-label={media.alt_text || media.file_name}
          style={{ maxWidth: '100%', maxHeight: 320, objectFit: 'contain', alignSelf: 'center' }}
        />
        <SegmentedControl
          aria-label={t('media.ratio')}
          value={ratio}
          onChange={(v) => setRatio(v as Ratio)}
          data={Object.keys(ratios)}
        />
        {(
          [
            ['zoom', zoom, setZoom, 1, 4, 0.05],
            ['across', x, setX, 0, 100, 1],
            ['down', y, setY, 0, 100, 1],
          ] as const
        ).map(([name, value, set, min, max, step]) => (
          <div key={name}>
            <Text size="sm">{t(`media.cut.${name}`)}</Text>
            <Slider
              thumbLabel={t(`media.cut.${name}`)}
              label={null}
              min={min}
              max={max}
              step={step}
              value={value}
              onChange={set}
            />
          </div>
        ))}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button loading={save.isPending} disabled={!image} onClick={() => save.mutate()}>
            {t('media.useCut')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
