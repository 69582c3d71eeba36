import canvas from '../en/canvas.json';
import { addTexts } from './add-texts.ts';

addTexts({ canvas });
