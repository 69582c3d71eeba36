import gallery from '../en/gallery.json';
import { addTexts } from './add-texts.ts';

addTexts({ gallery });
