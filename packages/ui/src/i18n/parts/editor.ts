import editor from '../en/editor.json';
import { addTexts } from './add-texts.ts';

await addTexts({ editor }, () => import('../ja-canvas.ts'));
