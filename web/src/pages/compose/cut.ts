/** Aspect ratios that suit networks; width by height. */
export const ratios = { '1:1': 1, '4:5': 4 / 5, '16:9': 16 / 9, '1.91:1': 1.91 } as const
export type Ratio = keyof typeof ratios

/** The crop of an image with the ratio, enlarged by the zoom; x and y from 0 to 1 are its position. */
export function cutOf(imageWidth: number, imageHeight: number, ratio: Ratio, zoom: number, x: number, y: number) {
  const wanted = ratios[ratio]
  const most = imageWidth / imageHeight > wanted ? imageHeight : imageWidth / wanted
  const height = Math.max(1, Math.round(most / zoom))
  const width = Math.max(1, Math.min(imageWidth, Math.round((most * wanted) / zoom)))
  return { width, height, left: Math.round((imageWidth - width) * x), top: Math.round((imageHeight - height) * y) }
}
