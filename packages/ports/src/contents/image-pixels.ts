/** Rows of pixels from the top left, four bytes each: red, green, blue, opacity. */
export interface Pixels {
  readonly data: Uint8ClampedArray<ArrayBuffer>;
  readonly width: number;
  readonly height: number;
}

export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** The part in an area, which lies within the image. */
export function crop({ data, width }: Pixels, area: Area): Pixels {
  const cut = new Uint8ClampedArray(area.width * area.height * 4);
  for (let row = 0; row < area.height; row += 1) {
    const start = ((area.y + row) * width + area.x) * 4;
    cut.set(data.subarray(start, start + area.width * 4), row * area.width * 4);
  }
  return { data: cut, width: area.width, height: area.height };
}

/** Clockwise by quarters, after it was mirrored from left to right. */
export function turn(image: Pixels, quarters: number, isMirrored = false): Pixels {
  const turns = ((quarters % 4) + 4) % 4;
  if (turns === 0 && !isMirrored) return image;
  const { width, height } = image;
  const isSideways = turns % 2 === 1;
  const target = { width: isSideways ? height : width, height: isSideways ? width : height };
  const from = new Uint32Array(image.data.buffer, image.data.byteOffset, width * height);
  const to = new Uint32Array(width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const left = isMirrored ? width - 1 - x : x;
      to[placeOf(left, y, width, height, turns)] = from[y * width + x] ?? 0;
    }
  }
  return { data: new Uint8ClampedArray(to.buffer), ...target };
}

function placeOf(x: number, y: number, width: number, height: number, turns: number): number {
  switch (turns) {
    case 1:
      return x * height + (height - 1 - y);
    case 2:
      return (height - 1 - y) * width + (width - 1 - x);
    case 3:
      return (width - 1 - x) * height + y;
    default:
      return y * width + x;
  }
}

/** How EXIF's orientations are undone: mirrored first, then turned clockwise by quarters. */
const UNDONE: {
  readonly [orientation: number]: readonly [isMirrored: boolean, quarters: number] | undefined;
} = {
  2: [true, 0],
  3: [false, 2],
  4: [true, 2],
  5: [true, 3],
  6: [false, 1],
  7: [true, 1],
  8: [false, 3],
};

/** As it is to be looked at. */
export function upright(image: Pixels, orientation: number): Pixels {
  const [isMirrored, quarters] = UNDONE[orientation] ?? [false, 0];
  return turn(image, quarters, isMirrored);
}

/** On white: JPEG has no transparency. Changes the image itself. */
export function flatten({ data }: Pixels): void {
  for (let at = 0; at < data.length; at += 4) {
    const opacity = data[at + 3] ?? 255;
    if (opacity === 255) continue;
    for (let channel = at; channel < at + 3; channel += 1) {
      data[channel] = Math.round(((data[channel] ?? 0) * opacity + 255 * (255 - opacity)) / 255);
    }
    data[at + 3] = 255;
  }
}
