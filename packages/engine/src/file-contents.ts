/** How the bytes of a file become text. `auto`: by its byte order mark, else UTF-8 if valid, else Shift_JIS. */
export type FileEncoding = 'auto' | 'utf-8' | 'utf-16le' | 'shift_jis' | 'euc-jp' | 'windows-1252';

/** How a file contains rows. */
export type TableForm =
  | {
      readonly format: 'csv';
      readonly encoding: FileEncoding;
      /** Empty: detected. */
      readonly delimiter: string;
      readonly header: boolean;
    }
  | {
      readonly format: 'xlsx';
      /** Its name; empty: the first one. */
      readonly sheet: string;
      readonly header: boolean;
    }
  /** A JSON value in each line. */
  | { readonly format: 'jsonl'; readonly encoding: FileEncoding }
  /** The events of a calendar (RFC 5545). */
  | { readonly format: 'ical'; readonly encoding: FileEncoding };

/** How rows become a file. */
export interface NewTable {
  readonly format: 'csv' | 'xlsx' | 'jsonl' | 'json' | 'ical';
  readonly name: string;
  readonly type: string;
  /** Empty: the members of the first rows. */
  readonly columns: readonly string[];
  /** Whether the first row has the column names. */
  readonly header: boolean;
  readonly delimiter: string;
  /** Whether it starts with a byte order mark, by which Excel recognises UTF-8. */
  readonly mark: boolean;
  /** Whether text that a spreadsheet would take for a formula stays as it is. */
  readonly formulas: boolean;
  readonly sheet: string;
}

/** Work on the contents of files. */
export type ContentTask =
  | { readonly kind: 'read_text'; readonly encoding: FileEncoding }
  | { readonly kind: 'read_json'; readonly encoding: FileEncoding }
  | { readonly kind: 'read_base64' }
  | {
      readonly kind: 'read_rows';
      readonly form: TableForm;
      /** Rows to skip at the beginning. */
      readonly skip: number;
      readonly limit: number;
    }
  /** Splits the rows into files of JSON lines. */
  | {
      readonly kind: 'split_rows';
      readonly form: TableForm;
      readonly rowsPerFile: number;
      /** Prefix of the file names. */
      readonly name: string;
    }
  | {
      readonly kind: 'write_rows';
      readonly table: NewTable;
      /** JSON text of a list. */
      readonly rows: string;
      /** How each input contains the rows that follow. */
      readonly forms: readonly TableForm[];
    }
  /** A raw mail. */
  | {
      readonly kind: 'read_mail';
      /** Whether attachments become files; otherwise only their names are listed. */
      readonly attachments: boolean;
    }
  | {
      readonly kind: 'pdf_text';
      readonly output: 'text' | 'pages';
      /** Pages to skip at the beginning. */
      readonly skip: number;
      readonly limit: number;
    }
  | { readonly kind: 'image_info' }
  | {
      readonly kind: 'image_change';
      /** The part to keep, cropped first. A width or height of 0: up to the edge. */
      readonly area: {
        readonly x: number;
        readonly y: number;
        readonly width: number;
        readonly height: number;
      } | null;
      /** Quarter turns, clockwise. */
      readonly quarters: number;
      /** 0: in proportion to the other, or unchanged. */
      readonly width: number;
      readonly height: number;
      readonly fit: 'inside' | 'cover' | 'stretch';
      /** Null: unchanged. */
      readonly format: 'jpeg' | 'png' | 'webp' | null;
      /** 1 to 100. */
      readonly quality: number;
      /** Empty: unchanged. */
      readonly name: string;
    }
  | { readonly kind: 'zip_make'; readonly name: string }
  | { readonly kind: 'zip_list'; readonly limit: number }
  | {
      readonly kind: 'zip_extract';
      /** Names of entries, with `*` for anything. Empty: all. */
      readonly names: readonly string[];
      readonly maxFiles: number;
      /** Of all of them together, decompressed. */
      readonly maxBytes: number;
    };
