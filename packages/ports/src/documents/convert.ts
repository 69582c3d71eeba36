import { type Conversion, type JsonValue, parseJson } from '@millrace/engine';
import { readFeed } from './feed.ts';
import { partOfPage, readHtmlFields } from './html-fields.ts';
import { htmlToMarkdown } from './html-markdown.ts';
import { markdownToHtml } from './markdown.ts';
import { visibleText } from './tree.ts';
import { valueToXml, xmlToValue } from './xml.ts';

/**
 * Converts a document; blocks while it does. Null if a selector finds nothing.
 * @throws DocumentFault
 */
export function convertDocument(text: string, conversion: Conversion): JsonValue {
  switch (conversion.kind) {
    case 'html_fields':
      return readHtmlFields(text, conversion.fields, conversion.baseUrl);
    case 'html_text': {
      const part = partOfPage(text, conversion.selector);
      return part === null ? null : visibleText(part);
    }
    case 'html_to_markdown': {
      const part = partOfPage(text, conversion.selector);
      return part === null ? null : htmlToMarkdown(part, conversion.baseUrl);
    }
    case 'markdown_to_html':
      return markdownToHtml(text, conversion);
    case 'xml_to_value':
      return xmlToValue(text, conversion);
    case 'value_to_xml':
      return valueToXml(parseJson(text), conversion);
    case 'feed':
      return readFeed(text, conversion);
  }
}
